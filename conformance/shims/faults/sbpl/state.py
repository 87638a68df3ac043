"""Faults about the directories in which providers keep their state."""

import sbpl.clauses as clauses
import sbpl.ops as ops
import sbpl.refusals as refusals
from errors import Failed
from faults.registry import changed, fault, replaces
from faults.sbpl.parts import inside_of_scratch, replaces_part, spelled_as_given

CODEX, CLAUDE, GEMINI = range(3)


def state_lines(change):
    """Change the lines, but not for requests that test names or whose root lies in a scratch
    directory."""

    @replaces_part("state")
    def state(lines, given):
        is_beside = given.modify and given.provider
        return lines if is_beside or inside_of_scratch(given) else change(lines, given)


def only_for(provider, which):
    """Keep the clause of one directory only for requests with that provider."""

    def change(lines, given):
        return lines if provider == given.provider else without(lines, given, which)

    state_lines(change)


def without(lines, given, which):
    found = clauses.state_directory(given.env, *clauses.STATE[which])
    return [line for line in lines if found is None or line != clauses.allow_below(*found)]


def ignores(which):
    variable, name = clauses.STATE[which]

    def change(lines, given):
        if variable not in given.env or "HOME" not in given.env:
            return lines
        return [*without(lines, given, which), at_home(given, name)]

    state_lines(change)


def at_home(given, name):
    return clauses.allow_below(f"{given.env['HOME']}/{name}", "/env/HOME")


def needs_home(which):
    def change(lines, given):
        return lines if "HOME" in given.env else without(lines, given, which)

    state_lines(change)


@fault("SBPL-STATE-01", "codex's directory is writable only for codex", "before ADR-013")
def codex_for_codex_only():
    only_for("codex", CODEX)


@fault("SBPL-STATE-01", "CODEX_HOME is ignored", "the default hard-coded")
def codex_home_is_ignored():
    ignores(CODEX)


@fault("SBPL-STATE-01", "without HOME, CODEX_HOME is ignored", "one if around all")
def codex_home_needs_home():
    needs_home(CODEX)


@fault("SBPL-STATE-02", "claude's directory is writable only for claude", "before ADR-013")
def claude_for_claude_only():
    only_for("claude", CLAUDE)


@fault("SBPL-STATE-02", "CLAUDE_CONFIG_DIR is ignored", "the default hard-coded")
def claude_config_dir_is_ignored():
    ignores(CLAUDE)


@fault("SBPL-STATE-02", "without HOME, CLAUDE_CONFIG_DIR is ignored", "one if around all")
def claude_config_dir_needs_home():
    needs_home(CLAUDE)


@fault("SBPL-STATE-03", "gemini's directory is writable only for gemini", "before ADR-013")
def gemini_for_gemini_only():
    only_for("gemini", GEMINI)


@fault("SBPL-STATE-03", "gemini's directory is where Linux has it", "XDG")
def gemini_in_config():
    of_gemini(lambda line: line.replace("/.gemini", "/.config/gemini"))


@fault("SBPL-STATE-03", "gemini's directory itself cannot be made", "a slash more")
def gemini_without_itself():
    def change(line):
        home = line.split('"')[1].removesuffix("/.gemini")
        return f'(allow file-write* (regex "^{home}/\\\\.gemini/.*$"))'

    of_gemini(change)


def of_gemini(change):
    def changed(lines, given):
        return [change(line) if line.endswith('/.gemini"))') else line for line in lines]

    state_lines(changed)


@fault(
    "SBPL-STATE-04", "with CODEX_HOME the default directory stays writable too", "both are allowed"
)
def codex_default_stays():
    default_stays(CODEX)


@fault(
    "SBPL-STATE-04",
    "with CLAUDE_CONFIG_DIR the default directory stays writable too",
    "both are allowed",
)
def claude_default_stays():
    default_stays(CLAUDE)


def default_stays(which):
    variable, name = clauses.STATE[which]

    def change(lines, given):
        if "HOME" not in given.env or variable not in given.env:
            return lines
        return [*lines, at_home(given, name)]

    state_lines(change)


@fault("SBPL-STATE-05", "an empty variable counts as set", "a null check")
def empty_is_set():
    @replaces(ops)
    def is_set(original, value):
        return True


@fault("SBPL-STATE-05", "with an empty variable there is no directory at all", "set, then skipped")
def empty_means_none():
    emptied: set[str] = set()

    @replaces(ops)
    def take_env(original, reader):
        emptied.clear()
        for field in ("env", "env_b64"):
            given = reader.fields.get(field, {})
            emptied.update(name for name, value in given.items() if value == "")
        return original(reader)

    @replaces(clauses)
    def state_directory(original, env, variable, name):
        return None if variable in emptied else original(env, variable, name)


@fault("SBPL-STATE-05", "an empty variable means `/`", "a join with nothing")
def empty_is_the_root():
    @replaces(ops)
    def take_env(original, reader):
        given = reader.fields.get("env", {})
        empty = [name for name, value in given.items() if value == ""] if given else []
        found = original(reader)
        return found | {name: "/" for name in empty if name != "HOME"}

    @replaces(refusals)
    def is_wide(original, place, home, fold):
        return place != "/" and original(place, home, fold)


@fault("SBPL-STATE-06", "a directory above HOME is accepted", "only the same is compared")
def above_home_is_taken():
    wide(lambda place, home: place == home)


@fault(
    "SBPL-STATE-06",
    "a variable that equals HOME is accepted",
    "only directories above are compared",
)
def home_itself_is_taken():
    wide(lambda place, home: place != home and home.startswith(place.rstrip("/") + "/"))


@fault("SBPL-STATE-06", "without HOME, `/` is accepted", "nothing to compare with")
def root_is_taken_without_home():
    @replaces(refusals)
    def refuse_homes(original, given):
        if "HOME" in given.env:
            original(given)


@fault("SBPL-STATE-06", "the refusal does not say which variable", "one message for all")
def wide_home_is_not_named():
    @replaces(refusals)
    def refuse_homes(original, given):
        try:
            original(given)
        except Failed:
            raise Failed("invalid_input", "this opens too much") from None


def wide(judge):
    @replaces(refusals)
    def is_wide(original, place, home, fold):
        return judge(place, home)


@fault("SBPL-STATE-06", "with fold HOME is compared without folding", "bytes are bytes")
def home_is_compared_as_spelled():
    @replaces(refusals)
    def is_wide(original, place, home, fold):
        return original(place, home, False)


@fault("SBPL-STATE-06", "HOME is compared before slashes are normalised", "too early")
def home_is_compared_too_early():
    given_as = spelled_as_given()

    @replaces(refusals)
    def refuse_homes(original, given):
        with changed(given, env={name: given_as[f"/env/{name}"] for name in given.env}):
            original(given)


def data_alone(which):
    """Permit writing to existing files, but not creating files."""

    def change(lines, given):
        found = clauses.state_directory(given.env, *clauses.STATE[which])
        full = clauses.allow_below(*found) if found else ""
        return [
            line.replace("file-write*", "file-write-data") if line == full else line
            for line in lines
        ]

    state_lines(change)


@fault("SBPL-STATE-01", "no file can be created in codex' directory", "writing data only")
def codex_files_cannot_be_made():
    data_alone(CODEX)


@fault("SBPL-STATE-02", "no file can be created in claude's directory", "writing data only")
def claude_files_cannot_be_made():
    data_alone(CLAUDE)


@fault("SBPL-STATE-03", "no file can be created in gemini's directory", "writing data only")
def gemini_files_cannot_be_made():
    data_alone(GEMINI)


@fault("SBPL-STATE-06", "HOME is compared in small letters, not folded", "str.lower")
def home_is_compared_in_small_letters():
    @replaces(refusals)
    def is_wide(original, place, home, fold):
        return original(place.lower(), home.lower(), False) if fold else original(place, home, fold)


@fault("SBPL-STATE-06", "HOME is compared with folding, and without fold", "names of macOS")
def home_is_always_folded():
    @replaces(refusals)
    def is_wide(original, place, home, fold):
        return original(place, home, True)


@fault("SBPL-STATE-01", "a directory that two variables name is left out", "repeats are removed")
def a_shared_directory_is_left_out():
    @replaces_part("state")
    def state(lines, given):
        return [line for line in lines if lines.count(line) == 1]
