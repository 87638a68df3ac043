"""Handles of files. A program with CAP_DAC_READ_SEARCH opens a file by its handle, without a
path."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

AT_FDCWD = -100
# The most bytes that a handle has (name_to_handle_at(2)).
MOST = 128

_libc = ctypes.CDLL(None, use_errno=True)


class _Handle(ctypes.Structure):
    _fields_ = (("size", ctypes.c_uint), ("kind", ctypes.c_int), ("content", ctypes.c_ubyte * MOST))


def file_handle(path: Path) -> str:
    """Return the handle of a file as TYPE:HEX; "" if its file system has none."""
    handle, mount = _Handle(size=MOST), ctypes.c_int()
    if not hasattr(_libc, "name_to_handle_at"):
        return ""
    where = (AT_FDCWD, os.fsencode(path), ctypes.byref(handle), ctypes.byref(mount), 0)
    if _libc.name_to_handle_at(*where) != 0:
        return ""
    return f"{handle.kind}:{bytes(handle.content[: handle.size]).hex()}"
