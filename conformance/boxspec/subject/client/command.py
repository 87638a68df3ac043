"""Split and check the command of `--shim`.

A command is split by the rules of a shell, but started without a shell.
"""

from __future__ import annotations

import os
import shlex
import shutil
from itertools import pairwise
from pathlib import Path

from boxspec.errors import UsageError
from boxspec.places import INSTALLED, ROOT

_NAME = "boxspec-ref"
_BUILT = ROOT / "build" / "release" / "reference" / _NAME
REFERENCE = Path(shutil.which(_NAME) or _NAME) if INSTALLED else _BUILT
# A wheel without the reference contains this file with the reason. The program boxspec-ref of that
# wheel prints the same reason.
ABSENT = ROOT / "without-boxspec-ref.txt"
# Ends of the names of files that a compiler reads.
SOURCES = {".c", ".cc", ".cpp", ".go", ".rs", ".zig"}
ELSEWHERE = "name --shim; a wheel has the reference only if it was built on its own target system"


def reference_absent() -> str | None:
    """Return the reason why the reference is missing, or None."""
    if INSTALLED and ABSENT.is_file():
        return ABSENT.read_text(encoding="utf-8").strip()
    return None if REFERENCE.is_file() else "it is missing"


def reference_argv() -> tuple[str, ...]:
    """Return the command of the reference: of this checkout or of the installed kit."""
    absent = reference_absent()
    if absent is not None:
        remedy = ELSEWHERE if INSTALLED else "run ./ci/setup, or name --shim"
        raise UsageError(str(REFERENCE), absent, remedy)
    return (str(REFERENCE.absolute()),)


def shim_argv(command: str | None) -> tuple[str, ...]:
    """Split the command, check it and make its paths absolute.

    Words that name a file in the working directory are made absolute too (`python3 my_shim.py`),
    because a case may start the shim in another directory. Without a command a checkout uses its
    reference. An installed kit refuses, so that a forgotten --shim does not lead to a report about
    the reference.
    """
    if command is None and INSTALLED:
        remedy = "boxspec new-shim writes a first shim; boxspec-ref is the reference"
        raise UsageError("--shim", "is missing: an installed kit has no default", remedy)
    if command is None:
        return reference_argv()
    try:
        words = shlex.split(command)
    except ValueError as why:
        raise UsageError(
            f"--shim {command!r}", f"cannot be split into words: {why}", "close the quote"
        ) from None
    if not words:
        raise UsageError("--shim ''", "is empty", "name an executable, e.g. --shim ./my-shim")
    if _is_file(Path(command)) and not Path(words[0]).exists():
        remedy = f'quote it twice: --shim "{shlex.quote(command)}"'
        raise UsageError(f"--shim {command}", "is split at its blanks", remedy)
    return (
        _program(words[0]),
        *(_absolute_if_file(word, after) for after, word in pairwise(words)),
    )


def _program(word: str) -> str:
    if word == _NAME and INSTALLED and ABSENT.is_file():
        return reference_argv()[0]
    if "/" not in word:
        found = shutil.which(word)
        if found is None:
            if Path(word).is_dir():
                raise UsageError(f"--shim {word}", "is a folder", "name the executable inside it")
            hint = f"did you mean ./{word}?" if _is_file(Path(word)) else "check the spelling"
            raise UsageError(f"--shim {word}", "no such program on PATH", hint)
        return str(Path(found).absolute())
    path = Path(word).absolute()
    if not path.exists():
        raise UsageError(f"--shim {word}", "no such file", "check the path")
    if path.is_dir():
        raise UsageError(f"--shim {word}", "is a folder", "name the executable inside it")
    if not os.access(path, os.X_OK):
        if path.suffix in SOURCES:
            remedy = "build it, and name the program"
            raise UsageError(f"--shim {word}", "is the source of a program", remedy)
        raise UsageError(f"--shim {word}", "has no run bit", f"chmod +x {shlex.quote(word)}")
    _check_beginning(word, path)
    return str(path)


def _check_beginning(word: str, path: Path) -> None:
    """Check the interpreter in the #! line of a script.

    If the interpreter is missing, the kernel reports only "No such file or directory".
    """
    place = f"--shim {word}"
    named = "name the interpreter: --shim " + shlex.quote(f"python3 {shlex.quote(word)}")
    try:
        with path.open("rb") as file:
            begins = file.read(256)
    except OSError:
        return  # an executable file may be unreadable
    if not begins.startswith(b"#!"):
        if b"\0" not in begins:
            raise UsageError(
                place, "is not a program and has no #! line", f"give it one, or {named}"
            )
        return
    line = begins.partition(b"\n")[0]
    if line.endswith(b"\r"):
        raise UsageError(place, "its #! line ends with CR LF", "save it with LF at the line ends")
    interpreter = os.fsdecode(line[2:].split()[0]) if line[2:].split() else ""
    if interpreter.startswith("/") and not Path(interpreter).exists():
        raise UsageError(place, f"its #! line names {interpreter}, which does not exist", named)


def _absolute_if_file(word: str, after: str) -> str:
    path = Path(word)
    # The word after -m is the name of a module, even if a file has the same name.
    if path.is_absolute() or after == "-m" or not _is_file(path):
        return word
    return str(path.absolute())


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False  # the word may be a one-line program that is too long for a name
