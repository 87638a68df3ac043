"""Advice for a user whose command does not run a program of the kit."""

from __future__ import annotations

import stat
from pathlib import Path

from boxspec.verify.launch import Ended


def advice(plan: Path, ended: Ended) -> str:
    """Return a hint if the command does not wait for its program, shows the workspace elsewhere, or
    runs the program as a user who cannot enter the folders."""
    if ended.others and ended.status == "exited 0":
        return f"; it ended before {ended.others[0]}: let it wait for the program"
    if "no such file" in ended.said.lower() and plan.parent.name in ended.said:
        return "; if the command shows the workspace at another path, let it start programs there"
    closed = [each for each in plan.parents if not each.stat().st_mode & stat.S_IXOTH]
    if not closed or "permission denied" not in ended.said.lower():
        return ""
    return (
        f"; other users cannot enter {closed[0]}: if the command runs programs as another user,"
        " set BOXSPEC_CASE_ROOT to a folder that this user can enter"
    )
