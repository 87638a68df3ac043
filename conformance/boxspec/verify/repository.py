"""The git repository in the workspace of a scene."""

from __future__ import annotations

from pathlib import Path

FILES = {
    ".git/HEAD": "ref: refs/heads/main\n",
    ".git/config": "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n",
}


def make_repository(root: Path) -> None:
    """Make an empty git repository, unless the copied workspace has one."""
    if (root / ".git").is_file():
        return
    for name in (".git/hooks", ".git/objects", ".git/refs/heads"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        if not (root / name).exists():
            (root / name).write_text(text)
