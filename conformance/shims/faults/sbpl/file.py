"""Faults of the temporary file of a profile."""

import os

import protocol
import sbpl.wrapping as wrapping
import sbpl.writable as writable
from errors import Failed
from faults.registry import fault, replaces

EXCLUSIVE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


def created(mode=0o600, settle=0o600, flags=EXCLUSIVE, text=lambda text: text):
    @replaces(wrapping)
    def create(original, path, given, temporary):
        fd = os.open(path, flags, mode)
        temporary.append(path)
        try:
            if settle is not None:
                os.fchmod(fd, settle)
            wrapping.write_all(fd, text(given))
        finally:
            os.close(fd)


@fault("SBPL-FILE-01", "the mode of the file depends on the umask", "open with 0666")
def mode_of_the_umask():
    created(mode=0o666, settle=None)


@fault("SBPL-FILE-01", "under a strict umask the owner cannot read the file", "no fchmod")
def umask_takes_from_the_owner():
    created(settle=None)


@fault("SBPL-FILE-01", "every user can read the file", "nothing secret in it")
def everybody_can_read():
    created(settle=0o644)


@fault("SBPL-FILE-01", "the file has one line more than the text", "a line feed at the end")
def a_line_more():
    created(text=lambda text: text + b"\n")


@fault("SBPL-FILE-01", "bytes of the text that are not UTF-8 change", "errors=replace")
def text_is_decoded():
    created(text=lambda text: text.decode(errors="replace").encode())


@fault("SBPL-FILE-01", "the file lies in the system's temporary directory", "mkstemp without dir")
def another_directory():
    @replaces(wrapping.NewFile)
    def file(original, self, shim):
        if os.access(self.directory, os.W_OK):
            self.directory = os.environ.get("TMPDIR", "/tmp").encode()
        return original(self, shim)


@fault("SBPL-FILE-02", "all files have the same name", "one profile a directory")
def one_name_for_all():
    wrapping.file_name = lambda: b"profile.sb"
    created(flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC)


@fault("SBPL-FILE-02", "the file is named after the process", "a PID is unique")
def name_of_the_process():
    wrapping.file_name = lambda: b"boxspec-%d.sb" % os.getpid()
    created(flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC)


@fault(
    "SBPL-FILE-02", "the name of the file is derived from its text", "one file a text, opened again"
)
def name_of_the_text():
    @replaces(wrapping.NewFile)
    def file(original, self, shim):
        digest = sum(place * byte for place, byte in enumerate(self.text, 1))
        wrapping.file_name = lambda: b"boxspec-%d.sb" % digest
        return original(self, shim)

    created(flags=os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC)


@fault("SBPL-FILE-03", "the file stays", "the system clears up")
def file_stays():
    @replaces(protocol.Shim)
    def tidy(original, self):
        self.temporary.clear()


@fault("SBPL-FILE-03", "the file is emptied and stays", "truncate")
def file_is_emptied():
    @replaces(protocol.Shim)
    def tidy(original, self):
        for path in self.temporary:
            os.truncate(path, 0)
        self.temporary.clear()


@fault("SBPL-FILE-04", "the file is made before the wrapper is looked for", "in the order of use")
def file_before_the_look():
    made_early(lambda shim, path: shim.temporary.remove(path))


def made_early(leave):
    @replaces(wrapping)
    def take_source(original, reader):
        source = original(reader)
        Early.source = source if isinstance(source, wrapping.NewFile) else None
        return source

    @replaces(wrapping)
    def wrap(original, shim, reader):
        try:
            answer = original(shim, reader)
        except Failed as failure:
            if failure.kind == "execution":
                forget(shim)
            raise
        if not answer["result"]["wrapped"]:
            forget(shim)
        return answer

    def forget(shim):
        if Early.source is not None:
            leave(shim, Early.source.file(shim))


class Early:
    source: wrapping.NewFile | None = None


@fault("SBPL-FILE-04", "a file is made even if it will not be used", "removed at the end only")
def file_for_nothing():
    made_early(lambda shim, path: None)


@fault(
    "SBPL-FILE-05",
    "a directory that cannot be written to is reported as a wrong request",
    "one kind",
)
def wrong_directory_is_invalid():
    failing(lambda failure: Failed("invalid_input", failure.message))


@fault("SBPL-FILE-05", "the error does not name the directory", "only strerror")
def directory_is_not_named():
    failing(lambda failure: Failed("io", failure.message.rpartition(": ")[2]))


@fault(
    "SBPL-FILE-05", "if the directory cannot be used, another one is taken", "/tmp is always there"
)
def another_directory_instead():
    @replaces(wrapping.NewFile)
    def file(original, self, shim):
        try:
            return original(self, shim)
        except Failed:
            self.directory = b"/tmp"
            return original(self, shim)


def failing(change):
    @replaces(wrapping.NewFile)
    def file(original, self, shim):
        try:
            return original(self, shim)
        except Failed as failure:
            raise change(failure) from None


@fault("SBPL-FILE-04", "a file that was written only in part stays", "noted when it is done")
def half_a_file_stays():
    @replaces(wrapping)
    def create(original, path, given, temporary):
        original(path, given, [])
        temporary.append(path)


@fault("SBPL-FILE-01", "the name of the directory is changed if it is not UTF-8", "errors=replace")
def directory_is_text():
    @replaces(wrapping.NewFile, "__init__")
    def init(original, self, text, directory):
        original(self, text, directory.decode(errors="replace").encode())


@fault(
    "SBPL-FILE-06",
    "there is no warning if the program can write its own profile file",
    "the caller chose the directory",
)
def own_file_is_not_looked_at():
    writable.may_write = lambda text, path: False


@fault("SBPL-FILE-06", "there is a warning for each profile file", "better once too often")
def each_file_is_warned_of():
    writable.may_write = lambda text, path: True


@fault("SBPL-FILE-06", "the place of the file is compared without resolving links", "no realpath")
def own_file_behind_a_link():
    @replaces(wrapping.NewFile)
    def warnings(original, self, file):
        return [str(file)] if writable.may_write(self.text, file) else []


@fault("SBPL-FILE-06", "the warning ignores a deny after the allow", "the first allow decides")
def own_file_by_the_first_allow():
    @replaces(writable)
    def may_write(original, text, path):
        ends = [at for at, byte in enumerate(text + b"\n") if byte == 10]
        return any(original(text[:end], path) for end in ends)


@fault("SBPL-FILE-06", "the place of the file is compared by its first letters", "startswith")
def own_file_by_a_prefix():
    @replaces(writable)
    def of_string(original, name, value, path):
        return path.startswith(value) if name == "subpath" else original(name, value, path)


@fault("SBPL-FILE-06", "the warning considers only file-write*", "the texts have no other")
def own_file_by_one_operation():
    writable.WRITES = ("file-write*",)


@fault("SBPL-FILE-06", "the warning ignores a clause without a filter", "there is no path in it")
def own_file_without_a_filter():
    @replaces(writable)
    def may_write(original, text, path):
        lines = [line for line in text.split(b"\n") if b'"' in line]
        return original(b"\n".join(lines), path)


@fault("SBPL-FILE-06", "the warning ignores regular expressions", "only subpath grants directories")
def own_file_without_expressions():
    writable.matches = lambda expression, path: False


@fault(
    "SBPL-FILE-06",
    "the warning depends on the file's directory, not on the file",
    "os.path.dirname",
)
def own_directory_for_the_file():
    @replaces(writable)
    def may_write(original, text, path):
        return original(text, path.rpartition(b"/")[0])


@fault(
    "SBPL-FILE-06",
    "the warning searches the text for one clause with the directory",
    "a substring is quick",
)
def own_file_by_a_search():
    @replaces(writable)
    def may_write(original, text, path):
        return b'allow file-write* (subpath "' + path.rpartition(b"/")[0] in text


@fault("SBPL-FILE-06", "the warning does not name the file", "one text for all")
def own_file_is_not_named():
    @replaces(wrapping.NewFile)
    def warnings(original, self, file):
        return ["the profile is writable" for _ in original(self, file)]


@fault("SBPL-FILE-06", "the text is read up to its first comment", "a comment ends the text")
def text_ends_at_a_comment():
    @replaces(writable)
    def forms(original, text):
        return original(text.split(b";")[0])


@fault("SBPL-FILE-01", "the line ends of the text are changed to LF", "a file opened as text")
def line_ends_are_changed():
    created(text=lambda text: text.replace(b"\r\n", b"\n"))


@fault("SBPL-FILE-06", "an expression must match from the start of the path", "re.match")
def expressions_begin_at_the_start():
    @replaces(writable)
    def matches(original, expression, path):
        return original(b"^(" + expression + b")", path)


@fault("SBPL-FILE-06", "the warning does not know require-not", "one filter of three")
def own_file_without_require_not():
    @replaces(writable)
    def meets(original, form, path, depth=0):
        return None if form[:1] == ["require-not"] else original(form, path, depth)


@fault("SBPL-FILE-03", "a file of the caller is removed at the end", "one path for both files")
def file_of_the_caller_is_removed():
    @replaces(wrapping.ExistingFile)
    def file(original, self, shim):
        if os.path.exists(self.path):
            shim.temporary.append(self.path)
        return original(self, shim)


@fault("SBPL-FILE-06", "the warning reads a clause inside another form", "skip() leaves too early")
def own_file_by_an_inner_clause():
    def inner(form):
        yield form
        for part in form if isinstance(form, list) else ():
            if isinstance(part, list):
                yield from inner(part)

    @replaces(writable)
    def forms(original, text):
        for form in original(text):
            yield from inner(form)


@fault("SBPL-FILE-06", "the warning stops at a filter that it does not know", "an early break")
def own_file_up_to_an_unknown_filter():
    @replaces(writable)
    def any_of(original, met):
        known = list(met)
        return original(known[: known.index(None) + 1] if None in known else known)


@fault("SBPL-FILE-01", "a text is written up to 1 MiB", "a buffer of that size")
def the_text_is_cut():
    @replaces(wrapping)
    def write_all(original, fd, data):
        original(fd, data[: 1 << 20])
