"""Find the file that a module id names."""

from __future__ import annotations

import os
import stat

WORD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
ROOT = b"APCORE_EXTENSIONS_ROOT"


def is_id(text: str) -> bool:
    return text[:1] in WORD and text != "" and not text.strip(WORD + ".-") and ".." not in text


def absolute(root: bytes) -> bytes:
    """Make the root absolute by the caller's working directory. The child has another working
    directory."""
    return root if root.startswith(b"/") else os.path.join(os.getcwdb(), root)


def find(root: bytes, module_id: str) -> bytes | None:
    """Return the file of the module with links resolved, or None."""
    path = os.path.realpath(os.path.join(root, module_id.encode()))
    if not inside(path, os.path.realpath(root)):
        return None
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return None
    return path if stat.S_ISREG(mode) and os.access(path, os.X_OK) else None


def inside(path: bytes, root: bytes) -> bool:
    return path.startswith(root.rstrip(b"/") + b"/")
