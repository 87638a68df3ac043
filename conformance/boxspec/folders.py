"""Folders that somebody else has written to."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path


def delete(folder: Path) -> None:
    """With everything in it, as far as it goes; links are not followed."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:
        # It goes down by recursion, and how deep is up to the target.
        subprocess.run(["rm", "-rf", "--", folder], stderr=subprocess.DEVNULL, check=False)
