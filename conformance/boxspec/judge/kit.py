"""Find the version of the kit, and the commit of the checkout that it runs from."""

from __future__ import annotations

import subprocess
from functools import cache
from typing import Any

from boxspec import __version__
from boxspec.places import ROOT


@cache
def kit() -> dict[str, Any]:
    """Return the version, the commit and whether the checkout is modified.

    Without a checkout or git, return only the version.
    """
    commit = _git("rev-parse", "HEAD") if (ROOT / ".git").exists() else None
    changes = None if commit is None else _git("status", "--porcelain", "--untracked-files=no")
    return {
        "version": __version__,
        "commit": commit,
        "modified": None if changes is None else bool(changes),
    }


def _git(*words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", ROOT, *words], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
