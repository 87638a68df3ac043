"""Check the result files before the run, so that no run ends without a place for its result."""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import stat
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from boxspec import umask
from boxspec.errors import UsageError

STDOUT = "-"
# Names of open descriptors. These files are written in place, because a new file of that name would
# not be the open one.
_DESCRIPTORS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")


class OutputFile:
    """A file that an option names, or standard output for the name `-`.

    stdout: False if the option does not accept `-`.
    """

    def __init__(self, flag: str, name: str, *, stdout: bool = True) -> None:
        self.flag, self.name = flag, name
        self.is_stdout = name == STDOUT
        if self.is_stdout and not stdout:
            raise UsageError(f"{flag} -", "cannot be standard output", "name a file")
        path = Path(name).absolute()
        is_open = str(path).startswith(_DESCRIPTORS)
        # A device or a pipe is written in place too.
        self.is_replaced = not is_open and (path.is_file() or not path.exists())
        # If the path is a link, its target is replaced and the link stays.
        self.path = path.resolve() if self.is_replaced else path
        if self.is_stdout:
            return
        try:
            self._check()
        except OSError as why:
            lacks = not self.path.parent.exists()
            remedy = f"mkdir -p {shlex.quote(str(Path(name).parent))}"
            problem = f"cannot be written: {why.strerror}"
            raise UsageError(
                f"{flag} {name}", problem, remedy if lacks else "use another file name"
            ) from None

    def _check(self) -> None:
        """Raise OSError if the file cannot be written. The content of the file does not change."""
        if self.path.exists():
            os.close(os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC))
        if self.is_replaced:
            new, fd = _new_file(self.path)
            os.close(fd)
            new.unlink()

    def write(self, text: str) -> None:
        try:
            if self.is_stdout:
                _print(text)
            elif self.is_replaced:
                replace_file(self.path, text)
            else:
                self.path.write_text(text, encoding="utf-8")
        except OSError as why:
            place = f"{self.flag} {STDOUT if self.is_stdout else self.path}"
            problem = f"cannot be written: {why.strerror}"
            raise UsageError(place, problem, "use another file name") from None


def replace_file(path: Path, text: str) -> None:
    """Write a new file and rename it to `path`.

    If an error occurs, for example because the disk is full, the old file stays.
    """
    new, fd = _new_file(path)
    try:
        with os.fdopen(fd, "w", encoding="utf-8", errors="replace") as file:
            with contextlib.suppress(FileNotFoundError):
                os.fchmod(fd, stat.S_IMODE(path.stat().st_mode))
            file.write(text)
            file.flush()
            # Some file systems report a full disk only at this call.
            os.fsync(fd)
        new.rename(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _new_file(path: Path) -> tuple[Path, int]:
    """Create a file with a random name next to `path`; return it with its descriptor."""
    new = path.parent / f".boxspec-{secrets.token_hex(8)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with umask.of_caller():
        return new, os.open(new, flags, 0o666)


def _print(text: str) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def expect_distinct(files: Iterable[OutputFile]) -> None:
    """Raise a UsageError if two outputs would replace each other."""
    seen: dict[str, OutputFile] = {}
    for file in files:
        if not (file.is_stdout or file.is_replaced):
            continue
        key = STDOUT if file.is_stdout else str(file.path)
        first = seen.setdefault(key, file)
        if first is not file:
            place = f"{first.flag} {first.name} and {file.flag} {file.name}"
            raise UsageError(place, "name the same file", "give each output its own name")


def console_of(files: Iterable[OutputFile]) -> TextIO:
    """Return the stream for messages: stderr if an output is written to stdout."""
    return sys.stderr if any(file.is_stdout for file in files) else sys.stdout
