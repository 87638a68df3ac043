"""Set up searches for a program.

There are candidates that cannot be executed, and relative names and PATHs.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from contracts.shared.files import script_at

TOOL = "boxspec-tool"

# A program and a PATH for each case. The working directory of the child contains `bin` and the
# other tool.
RELATIVE = {
    "a relative entry": (TOOL, "bin"),
    "an entry with a dot": (TOOL, "./bin"),
    "a dot": (f"{TOOL}-top", "."),
    "an empty PATH": (f"{TOOL}-top", ""),
    "an empty first entry": (f"{TOOL}-top", ":/nowhere"),
    "an empty entry between": (f"{TOOL}-top", "/nowhere::/nowhere"),
    "an empty last entry": (f"{TOOL}-top", "/nowhere:"),
    "a name with a dot": (f"./{TOOL}-top", "/nowhere"),
    "a name with a slash": (f"bin/{TOOL}", "/nowhere"),
}


def saying(path: Path, text: str, mode: int = 0o755) -> Path:
    """Create a script that prints `text` and a newline."""
    return script_at(path, f"echo {shlex.quote(text)}", mode=mode)


def unusable_candidate(tmp: Path, what: str) -> Path:
    """Create the first entry of a PATH, which has a TOOL that cannot be executed."""
    candidate = tmp / "one" / TOOL
    candidate.parent.mkdir()
    match what:
        case "directory":
            candidate.mkdir()
        case "0644":
            saying(candidate, "not executable", mode=0o644)
        case "dangling":
            candidate.symlink_to("gone")
        case "fifo":
            os.mkfifo(candidate, 0o755)
        case "no-folder":
            candidate.parent.rmdir()
        case "loop":
            candidate.symlink_to(TOOL)
        case "file-for-folder":
            candidate.parent.rmdir()
            candidate.parent.touch()
        case "loop-for-folder":
            candidate.parent.rmdir()
            candidate.parent.symlink_to("one")
        case "too-long-a-folder":
            return tmp / ("x" * 300)
    return candidate.parent
