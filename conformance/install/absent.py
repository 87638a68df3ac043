"""Replace boxspec-ref in a wheel without it, by a file that tells the kit the reason, and a command
that prints the reason."""

from __future__ import annotations

import shlex
from pathlib import Path

from boxspec.subject.client.command import ABSENT, ELSEWHERE

COMMAND = """\
#!/bin/sh
printf '%s\\n' {message} >&2
exit 2
"""


def write(folder: Path, why: str) -> Path:
    """Write the file that the kit checks for."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / ABSENT.name
    file.write_text(f"{why}\n")
    return file


def command(folder: Path, why: str) -> Path:
    """Write a program with the name of the reference, because a missing command would explain
    nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "boxspec-ref"
    message = f"boxspec-ref: is not in this wheel: {why} ({ELSEWHERE})"
    file.write_text(COMMAND.format(message=shlex.quote(message)))
    file.chmod(0o755)
    return file
