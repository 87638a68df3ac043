"""Set the umask of the kit.

The folders of a run, its shims and their programs have the same umask, so that a result does not
depend on the umask of the caller. A umask like 0177 removes rights of the owner, and neither the
kit nor a program in a sandbox could enter its folders. Tests about a umask set it themselves.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

_OWN = 0o022
_callers: int | None = None


def set_own() -> None:
    """Set the umask of this process, which its children inherit."""
    global _callers
    before = os.umask(_OWN)
    if _callers is None:
        _callers = before


@contextlib.contextmanager
def of_caller() -> Iterator[None]:
    """Set the caller's umask inside this block, in which a result file is made."""
    own = os.umask(_callers) if _callers is not None else None
    try:
        yield
    finally:
        if own is not None:
            os.umask(own)
