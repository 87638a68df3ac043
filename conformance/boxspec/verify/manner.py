"""Ways to start a program with the command.

Most commands run the program of a path as they are. Some show the workspace at another path, and
some refuse to start without a terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from boxspec.verify.row import Record
from boxspec.verify.scene import Scene


@dataclass(frozen=True)
class Manner:
    """One way to start a program.

    moved: the words of the program are relative to the workspace, which the command shows at
        another path.
    terminal: all streams are a terminal.
    """

    moved: bool = False
    terminal: bool = False

    def word(self, scene: Scene, path: Path) -> str:
        """Return the path of a file of the workspace, as a word of the program."""
        return f"./{path.relative_to(scene.root)}" if self.moved else str(path)

    def works(self, scene: Scene, start: Record | None) -> bool:
        """True if a program ran. `start` is its first record.

        With relative words the workspace must be at another path, as the working directory in
        `start` shows. Otherwise a program of another user may run although it cannot enter the
        folders of the run: it has inherited the working directory.
        """
        if start is None or not start.output:
            return False
        return not (self.moved and Path(start.output) == scene.root.resolve())


# The manners that are tried if a program does not run in the usual manner, in this order.
OTHERS: Sequence[Manner] = (Manner(moved=True), Manner(terminal=True), Manner(True, True))
