"""The command that starts inner.py around a program."""

from __future__ import annotations

import os
import sys

from files import read_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from backend.environment import Pairs

ALWAYS = ("close_descriptors", "drop_capabilities", "no_new_privileges")
# A list of so many short words is shorter than the longest word that the kernel passes on.
MANY, PACK = 8000, 64
HERE = os.path.dirname(os.path.abspath(__file__))


def interpreter() -> bytes:
    """The file itself: a link to it may not be there inside."""
    return os.fsencode(os.path.realpath(sys.executable))


def command(
    argv: Sequence[bytes],
    *,
    session: bool,
    ruleset: dict[str, Any] | None = None,
    filter_: bytes | None = None,
) -> list[bytes]:
    """argv inside; session: whether a session of its own is still to be made."""
    steps = [*(("new_session",) if session else ()), *ALWAYS]
    words = packed(argv)
    spec = {"steps": steps, "ruleset": ruleset, "filter": filter_, "packed": words != argv}
    code = read_file(os.path.join(HERE, "inner.py"))
    return [interpreter(), b"-I", b"-S", b"-c", code, repr(spec).encode(), *words]


def packed(argv: Sequence[bytes]) -> Sequence[bytes]:
    """bubblewrap takes 9,000 words: of more, several are one word that is a list."""
    if len(argv) < MANY:
        return argv
    return [repr(list(argv[at : at + PACK])).encode() for at in range(0, len(argv), PACK)]


def given_inside(words: Sequence[bytes], env: Pairs) -> tuple[list[bytes], Pairs]:
    """The command with the environment of its program as a word, and what is left for those who
    start it: what a program's environment says to the loader is not for them."""
    code = read_file(os.path.join(HERE, "inner.py"))
    if code not in words:
        return list(words), env
    at = list(words).index(code) + 1
    spec = {**eval(words[at], {}), "env": env}
    return [*words[:at], repr(spec).encode(), *words[at + 1 :]], []
