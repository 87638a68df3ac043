"""Create folders, files and symbolic links on disk, as the vectors describe them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

# A file that the tests allow (docs/page), and a file that they deny (secret/key).
PAGE_AND_KEY = (
    {"path": "docs", "kind": "dir"},
    {"path": "docs/page", "kind": "file"},
    {"path": "secret", "kind": "dir"},
    {"path": "secret/key", "kind": "file"},
)


class Tree:
    """A workspace `root`, and a folder `outside` next to it. Both are created at once."""

    def __init__(self, folder: Path) -> None:
        # The path must contain no links, because observers compare paths as text.
        place = folder.resolve()
        self.root, self.outside = place / "root", place / "outside"
        self.root.mkdir(parents=True)
        self.outside.mkdir()

    def named(self, text: str) -> str:
        """Return the text with `{root}` and `{outside}` replaced."""
        return text.replace("{root}", str(self.root)).replace("{outside}", str(self.outside))

    def place(self, path: str) -> Path:
        """Return the place of an item: below the root, or below `{outside}`."""
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
        """Create the links l1 -> l2 -> … -> target in one directory."""
        name = Path(prefix).name
        for number in range(1, links + 1):
            following = f"{name}{number + 1}" if number < links else target
            self.link(f"{prefix}{number}", following)
