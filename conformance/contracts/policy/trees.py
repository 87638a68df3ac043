"""Trees of folders, files and symlinks on disk, as the vectors describe them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


class Tree:
    """A workspace `root`, and a folder `outside` beside it; both exist from the start."""

    def __init__(self, folder: Path) -> None:
        # The observers must not be led astray by a link above the tree.
        place = folder.resolve()
        self.root, self.outside = place / "root", place / "outside"
        self.root.mkdir(parents=True)
        self.outside.mkdir()

    def named(self, text: str) -> str:
        """`{root}` and `{outside}` replaced."""
        return text.replace("{root}", str(self.root)).replace("{outside}", str(self.outside))

    def place(self, path: str) -> Path:
        """Where a tree's item lies: below the root, or below `{outside}`."""
        return self.root / self.named(path)

    def make(self, items: Iterable[Mapping[str, Any]]) -> None:
        for item in items:
            if "chain" in item:
                self._chain(**item["chain"])
            elif item["kind"] == "dir":
                self.place(item["path"]).mkdir()
            elif item["kind"] == "file":
                self.place(item["path"]).touch()
            else:
                self.link(item["path"], item["target"])

    def link(self, path: str, target: str) -> None:
        os.symlink(self.named(target), self.place(path))  # noqa: PTH211

    def _chain(self, prefix: str, links: int, target: str) -> None:
        """l1 -> l2 -> … -> target; they lie side by side."""
        name = Path(prefix).name
        for number in range(1, links + 1):
            following = f"{name}{number + 1}" if number < links else target
            self.link(f"{prefix}{number}", following)
