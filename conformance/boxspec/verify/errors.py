"""The exception for a target that cannot be tested on this host."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path


class UntestableError(Exception):
    """Raised if a target cannot be tested on this host. The table shows the text as the reason."""


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn an error of the file system into an UntestableError: a decoy could not be made."""
    try:
        yield
    except OSError as why:
        problem = f"the kit cannot make {path.name[:40]}: {why.strerror}"
        raise UntestableError(problem) from None
