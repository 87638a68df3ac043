"""Result files. They are checked before the run, so that no result is lost in the end."""

from __future__ import annotations

import shlex
from pathlib import Path

from boxspec import umask
from boxspec.errors import UsageError


class OutputFile:
    def __init__(self, flag: str, name: str) -> None:
        self.flag, self.path = flag, Path(name).absolute()
        existed = self.path.exists()
        try:
            # Open for appending, so that the content of an earlier run stays until there is a new
            # one.
            with self.path.open("a", encoding="utf-8"):
                pass
        except OSError as why:
            lacks = not self.path.parent.exists()
            remedy = f"mkdir -p {shlex.quote(str(Path(name).parent))}"
            problem = f"cannot be written: {why.strerror}"
            raise UsageError(
                f"{flag} {name}", problem, remedy if lacks else "use another file name"
            ) from None
        if not existed:
            self.path.unlink()

    def write(self, text: str) -> None:
        try:
            with umask.of_caller():
                self.path.write_text(text, encoding="utf-8")
        except OSError as why:
            place, problem = f"{self.flag} {self.path}", f"cannot be written: {why.strerror}"
            raise UsageError(place, problem, "use another file name") from None
