"""Faults of the search for a program."""

import errno
import os
import stat

import exec.spawn as spawn
from faults.registry import fault, replaces


@fault("EXEC-PATH-01", "the caller's PATH is searched", "pitfall A14: posix_spawnp, execvpe")
def searches_the_callers_path():
    @replaces(spawn)
    def search_path(original, environment):
        return original(spawn.caller_environment() if b"PATH" in environment else environment)


@fault("EXEC-PATH-01", "of two variables PATH the first is searched", "getenv on a raw list")
def searches_the_first_path():
    @replaces(spawn.Spawn)
    def execute(original, self, path):
        paths = [value for name, value in self.request.env or () if name == b"PATH"]
        if len(paths) > 1:
            path = spawn.find_program(self.request.program, {b"PATH": paths[0]})
        original(self, path)


@fault("EXEC-PATH-02", "if the child has no PATH no program is found", "pitfall A15: rust#55793")
def no_path_finds_nothing():
    @replaces(spawn)
    def search_path(original, environment):
        return original(environment) if b"PATH" in environment else []


@fault("EXEC-PATH-02", "if the child has no PATH the caller's is searched", "pitfall A15")
def no_path_is_the_callers():
    @replaces(spawn)
    def search_path(original, environment):
        return original(environment if b"PATH" in environment else spawn.caller_environment())


def first(accepted):
    """Replace the search by one that takes the first candidate for which `accepted` is true."""

    def find_program(program, environment):
        if b"/" in program or not program:
            return program
        for entry in spawn.search_path(environment):
            candidate = os.path.join(entry or b".", program)
            if accepted(candidate):
                return candidate
        raise OSError(errno.ENOENT, "")

    return find_program


@fault("EXEC-PATH-03", "a file that exists is taken, executable or not", "which -a habits")
def takes_what_is_not_executable():
    strict = spawn.find_program

    def find_program(program, environment):
        found = first(lambda c: os.path.isfile(c))
        try:
            strict(program, environment)
        except OSError:
            return strict(program, environment)
        return found(program, environment)

    spawn.find_program = find_program


@fault(
    "EXEC-PATH-03", "a directory with the x bit counts as a program", "access(X_OK) without stat"
)
def takes_directories():
    strict = spawn.find_program

    def find_program(program, environment):
        strict(program, environment)
        return first(lambda c: os.access(c, os.X_OK) and not stat.S_ISFIFO(os.stat(c).st_mode))(
            program, environment
        )

    spawn.find_program = find_program


@fault("EXEC-PATH-03", "of several candidates the last is taken", "a loop without break")
def last_candidate_wins():
    @replaces(spawn)
    def search_path(original, environment):
        return original(environment)[::-1]


@fault("EXEC-PATH-04", "every failed search is reported as a missing file", "execvp clones")
def always_enoent():
    @replaces(spawn)
    def find_program(original, program, environment):
        try:
            return original(program, environment)
        except PermissionError:
            raise OSError(errno.ENOENT, "") from None


@fault("EXEC-PATH-05", "empty entries of PATH are skipped", "split and filter")
def skips_empty_entries():
    @replaces(spawn)
    def search_path(original, environment):
        return [entry for entry in original(environment) if entry]


@fault("EXEC-PATH-05", "a name with a slash is searched in PATH", "os.path.join for each entry")
def searches_for_names_with_a_slash():
    @replaces(spawn)
    def find_program(original, program, environment):
        if b"/" in program and not os.path.exists(program):
            for entry in spawn.search_path(environment):
                candidate = os.path.join(entry, program)
                if entry and os.path.exists(candidate):
                    return candidate
        return original(program, environment)


@fault("EXEC-PATH-05", "a relative name is resolved from the caller's directory", "pitfall A12")
def relative_to_the_caller():
    where: list[bytes] = []

    @replaces(spawn.Spawn)
    def attempt(original, self):
        try:
            where[:] = [os.getcwdb()]
        except OSError:
            where[:] = [b""]  # the directory was removed or is not accessible
        return original(self)

    @replaces(spawn)
    def find_program(original, program, environment):
        if b"/" in program:
            return os.path.join(where[0], program)
        return os.path.join(where[0], original(program, environment))


@fault(
    "EXEC-PATH-03",
    "a PATH entry that is no directory ends the search",
    "only ENOENT and EACCES continue",
)
def odd_entries_end_the_search():
    @replaces(spawn)
    def find_program(original, program, environment):
        for entry in spawn.search_path(environment) if b"/" not in program else ():
            try:
                os.stat(os.path.join(entry or b".", program))
                break
            except (FileNotFoundError, PermissionError):
                continue
        return original(program, environment)


@fault("EXEC-PATH-03", "only the owner's x bit is checked", "st_mode & S_IXUSR")
def owners_bit_decides():
    @replaces(spawn)
    def find_program(original, program, environment):
        found = original(program, environment)
        while b"/" not in program and not os.stat(found).st_mode & stat.S_IXUSR:
            entries = spawn.search_path(environment)
            behind = entries[entries.index(os.path.dirname(found)) + 1 :]
            environment = {**environment, b"PATH": b":".join(behind)}
            found = original(program, environment)
        return found


@fault("EXEC-PATH-03", "PATH is cut at 4,096 bytes", "char path[PATH_MAX]")
def path_has_a_limit():
    @replaces(spawn)
    def search_path(original, environment):
        return b":".join(original(environment))[:4096].split(b":")


@fault("EXEC-PATH-03", "a candidate whose interpreter is missing is skipped", "execvp")
def goes_on_after_a_failed_exec():
    @replaces(spawn.Spawn)
    def execute(original, self, path):
        try:
            original(self, path)
        except FileNotFoundError:
            if b"/" in self.request.program:
                raise
            for entry in spawn.search_path(self.environment):
                candidate = os.path.join(entry, self.request.program)
                if candidate != path and os.access(candidate, os.X_OK):
                    original(self, candidate)
            raise


@fault("EXEC-PATH-06", "a slash at the end of a name is dropped", "pathlib, path.Clean")
def drops_a_slash_at_the_end():
    @replaces(spawn)
    def find_program(original, program, environment):
        return original(program.rstrip(b"/") or program, environment)


@fault("EXEC-PATH-05", "`~` in an entry of PATH is expanded", "bash")
def expands_tildes():
    @replaces(spawn)
    def search_path(original, environment):
        home = environment.get(b"HOME", b"~")
        found = original(environment)
        return [home + each[1:] if each[:2] == b"~/" else each for each in found]


def joins(join):
    """Join current_dir and a program with a slash by the function `join`, before it is executed."""

    @replaces(spawn.Spawn)
    def execute(original, self, path):
        place = self.request.current_dir
        original(self, join(place, path) if place and b"/" in self.request.program else path)


@fault("EXEC-PATH-05", "a relative current_dir is applied twice", "join(dir, program), then chdir")
def directory_is_gone_twice():
    joins(os.path.join)


@fault("EXEC-PATH-05", "`..` after a link is resolved as text", "path.resolve, filepath.Join")
def names_are_put_together_as_text():
    joins(lambda place, path: os.path.normpath(os.path.join(place, path)))


@fault(
    "EXEC-PATH-05",
    "relative entries of an inherited PATH are resolved from the caller's directory",
    "exec.LookPath",
)
def looked_up_where_the_caller_is():
    @replaces(spawn.Spawn)
    def attempt(original, self):
        if self.request.env is None and b"/" not in self.request.program:
            found = spawn.find_program(self.request.program, self.environment)
            self.found = os.path.join(os.getcwdb(), found)
        return original(self)

    @replaces(spawn.Spawn)
    def execute(original, self, path):
        original(self, getattr(self, "found", path))
