"""Make the command that starts inner.py in the sandbox. inner.py then executes a program."""

from __future__ import annotations

import os
import sys

from files import read_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from backend.environment import Pairs
    from backend.planned import Mount

ALWAYS = ("close_descriptors", "drop_capabilities", "no_new_privileges")
# If a command has MANY words or more, PACK words are packed into one argument (see `packed`).
MANY, PACK = 8000, 64
# The kernel limits one variable to 128 KiB.
PART = 1 << 16
HERE = os.path.dirname(os.path.abspath(__file__))


def interpreter() -> bytes:
    """Return the real path of the interpreter, because a link to it may not exist inside."""
    return os.fsencode(os.path.realpath(sys.executable))


def command(
    argv: Sequence[bytes],
    *,
    session: bool,
    mounts: Sequence[Mount] = (),
    ruleset: dict[str, Any] | None = None,
    filter_: bytes | None = None,
) -> list[bytes]:
    """Return the command that runs argv in the sandbox.

    session: True if the program must get its own session.
    mounts: see planned.py.
    """
    steps = [*(("new_session",) if session else ()), *ALWAYS]
    words = packed(argv)
    listed = compressed(list(mounts)) if mounts else []
    spec = {
        "steps": steps,
        "mounts": len(listed),
        "ruleset": ruleset,
        "filter": filter_,
        "packed": words != argv,
    }
    code = read_file(os.path.join(HERE, "inner.py"))
    return [interpreter(), b"-I", b"-S", b"-c", code, repr(spec).encode(), *listed, *words]


def packed(argv: Sequence[bytes]) -> Sequence[bytes]:
    """Pack several words into one word, because bubblewrap accepts at most 9,000 words."""
    if len(argv) < MANY:
        return argv
    return [repr(list(argv[at : at + PACK])).encode() for at in range(0, len(argv), PACK)]


def compressed(mounts: list[Mount]) -> list[bytes]:
    """Return words for inner.py. The command line has the paths twice already, and its length is
    limited."""
    import base64
    import zlib

    text = base64.b64encode(zlib.compress(repr(mounts).encode()))
    return [text[at : at + PART] for at in range(0, len(text), PART)]


def given_inside(words: Sequence[bytes], env: Pairs) -> tuple[list[bytes], Pairs]:
    """Pack the program's environment into variables for inner.py.

    Return the command and these variables. The processes that start the program must not use its
    variables, because the dynamic loader reads some of them. The values must not be words of the
    command line either, because every user of the host can read a command line.
    """
    if read_file(os.path.join(HERE, "inner.py")) not in words:
        return list(words), env
    text = repr(env).encode()
    parts = [text[at : at + PART] for at in range(0, len(text), PART)]
    return list(words), [(b"SANDBOX_ENV_%d" % n, part) for n, part in enumerate(parts)]
