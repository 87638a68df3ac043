"""Make the command that runs under a profile, and the temporary file of the profile."""

from __future__ import annotations

import _signal
import os
from binascii import b2a_base64

import sbpl.flags as flags
import sbpl.writable as writable
from errors import Failed, reason_of
from reader import one, several

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kinds import Object, Shim
    from reader import Reader

WRAPPER = "/usr/bin/sandbox-exec"
PROVIDERS = ("codex", "claude", "gemini")
OWN_FILE = "the profile allows a program to write to its own file; name another dir"
BARE = f"{WRAPPER} is missing: the command runs without it, with its own flags"


def wrap(shim: Shim, reader: Reader) -> Object:
    argv = reader.need_encoded("argv", several)
    provider = take_provider(reader)
    fallback = reader.take("allow_fallback", bool) or False
    source = take_source(reader)
    wrapper = reader.take("wrapper", str)
    if wrapper not in (None, "present", "missing"):
        reader.wrong("wrapper", "must be present or missing")
    shim.hold = reader.take("hold", str)
    reader.done()
    refuse_empty(reader, argv)
    if is_there(wrapper):
        refuse_option(reader, argv)
        file = source.file(shim)
        words = [*wrapper_words(file), *flags.neutral(argv, provider)]
        return answer(words, True, source.warnings(file))
    if not fallback:
        why = f"{WRAPPER} is missing, and nothing else confines; allow_fallback runs without it"
        raise Failed("execution", why)
    return answer(bare(argv, provider), False, warnings())


def take_provider(reader: Reader) -> str | None:
    found = reader.take("provider", str)
    if found not in (None, *PROVIDERS):
        reader.wrong("provider", f"must be one of {', '.join(PROVIDERS)}")
    return found


def refuse_empty(reader: Reader, argv: list[bytes]) -> None:
    if not argv or not argv[0]:
        reader.wrong("argv", "is empty; its first word is the program")
    if any(b"\0" in word for word in argv):
        reader.wrong("argv", "holds a NUL")


def refuse_option(reader: Reader, argv: list[bytes]) -> None:
    if any(program.startswith(b"-") for program in argv[:1]):
        reader.wrong("argv", "begins with a dash, which the wrapper takes for an option; write ./")


def is_there(requested: str | None) -> bool:
    """True if the wrapper exists. The request may say so; otherwise the system is examined."""
    if requested is not None:
        return requested == "present"
    return os.path.isfile(WRAPPER) and os.access(WRAPPER, os.X_OK)


def wrapper_words(file: bytes) -> list[bytes]:
    return [WRAPPER.encode(), b"-f", file]


def bare(argv: list[bytes], provider: str | None) -> list[bytes]:
    """Return the command unchanged.

    Without the outer sandbox, the provider's own sandbox flags must stay.
    """
    return argv


def answer(argv: list[bytes], wrapped: bool, warned: list[str]) -> Object:
    return {"result": {**words(argv), "wrapped": wrapped, "warnings": warned}}


def warnings() -> list[str]:
    return [BARE]


def words(argv: list[bytes]) -> Object:
    try:
        return {"argv": [word.decode() for word in argv]}
    except UnicodeDecodeError:
        return {"argv_b64": [b2a_base64(word, newline=False).decode() for word in argv]}


def take_source(reader: Reader) -> ExistingFile | NewFile:
    """Return the source of the profile: an existing file, or the text of a new file."""
    if "file" in reader.fields or "file_b64" in reader.fields:
        return ExistingFile(absolute(reader, "file"))
    return NewFile(reader.need_encoded("text", one), absolute(reader, "dir"))


def absolute(reader: Reader, name: str) -> bytes:
    path = reader.need_encoded(name, one)
    if not path.startswith(b"/") or b"\0" in path:
        reader.wrong(name, "must be absolute, without NUL")
    return path


class ExistingFile:
    def __init__(self, path: bytes) -> None:
        self.path = path

    def file(self, shim: Shim) -> bytes:
        return self.path

    def warnings(self, file: bytes) -> list[str]:
        return []


class NewFile:
    def __init__(self, text: bytes, directory: bytes) -> None:
        self.text = text
        self.directory = directory

    def file(self, shim: Shim) -> bytes:
        """Return the path of a new file that no other user can change.

        The shim removes the file at the end.
        """
        path = os.path.join(self.directory, file_name())
        try:
            create(path, self.text, shim.temporary)
        except OSError as e:
            where = self.directory.decode("utf-8", "replace")
            raise Failed("io", f"{where}: {reason_of(e)}") from None
        return path

    def warnings(self, file: bytes) -> list[str]:
        if not writable.may_write(self.text, os.path.realpath(file)):
            return []
        return [f"{file.decode('utf-8', 'replace')}: {OWN_FILE}"]


def file_name() -> bytes:
    """Return a name that cannot be guessed. So no other user can prepare a link with this name."""
    return b"boxspec-" + os.urandom(12).hex().encode() + b".sb"


def create(path: bytes, text: bytes, temporary: list[bytes]) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    temporary.append(path)
    # a write beyond the limit of a file's size must fail, and not end the process
    before = _signal.signal(_signal.SIGXFSZ, _signal.SIG_IGN)
    try:
        os.fchmod(fd, 0o600)  # the mode must not depend on the umask
        write_all(fd, text)
    finally:
        _signal.signal(_signal.SIGXFSZ, before)
        os.close(fd)


def write_all(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]
