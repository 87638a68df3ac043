"""What a wheel without boxspec-ref has in its place: why, for the kit and for whoever calls it."""

from __future__ import annotations

import shlex
from pathlib import Path

from boxspec.subject.client.command import ABSENT, ELSEWHERE

COMMAND = """\
#!/bin/sh
printf '%s\\n' {said} >&2
exit 2
"""


def write(folder: Path, why: str) -> Path:
    """The file that the kit looks for."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / ABSENT.name
    file.write_text(f"{why}\n")
    return file


def command(folder: Path, why: str) -> Path:
    """A program by the name of the reference: a command that is not there would say nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "boxspec-ref"
    said = f"boxspec-ref: is not in this wheel: {why} ({ELSEWHERE})"
    file.write_text(COMMAND.format(said=shlex.quote(said)))
    file.chmod(0o755)
    return file
