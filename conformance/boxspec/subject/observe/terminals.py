"""Open a new terminal, or report that this host cannot."""

from __future__ import annotations

import os
import pty

from boxspec.judge.verdict import HostLacks


def open_terminal() -> tuple[int, int]:
    """Return both ends of a new terminal. The caller closes them."""
    try:
        return pty.openpty()
    except OSError as why:
        raise HostLacks("terminals", f"no terminal can be made here: {why}") from None


def absent() -> str | None:
    """Return the reason why no terminal can be made, or None."""
    try:
        for end in open_terminal():
            os.close(end)
    except HostLacks as why:
        return str(why)
    return None
