"""Read and write whole files."""

from __future__ import annotations

import os


def read_file(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY)
    pieces = []
    try:
        while piece := os.read(fd, 1 << 20):
            pieces.append(piece)
    finally:
        os.close(fd)
    return b"".join(pieces)


def write_file(path: str, data: bytes) -> None:
    """Write the file under another name and rename it. So a reader never sees an incomplete
    file."""
    temporary = f"{path}.{os.getpid()}"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        write_all(fd, data)
    finally:
        os.close(fd)
    os.rename(temporary, path)


def write_all(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]
