"""Check the folder that is copied to each workspace."""

from __future__ import annotations

import os
from pathlib import Path

from boxspec.errors import UsageError

# Limits for the folder, because it is copied for each start.
MOST_FILES, MOST_BYTES = 20_000, 512 << 20


def workspace(folder: Path) -> Path:
    """Return the folder as an absolute path; raise a UsageError if it is too large to be copied."""
    if not folder.is_dir():
        raise UsageError(f"--root {folder}", "is not a folder", "name the folder of your project")
    files = size = 0
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            if not path.is_symlink() and not path.is_file():
                problem = f"has {path}, which is not a file"
                raise UsageError(f"--root {folder}", problem, "remove it, or copy what you need")
            files, size = files + 1, size + path.lstat().st_size
    if files > MOST_FILES or size > MOST_BYTES:
        problem = f"is too large: {files} files, {size >> 20} MiB"
        raise UsageError(f"--root {folder}", problem, "name a part of it")
    return folder.absolute()
