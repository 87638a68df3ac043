"""Trust checks for shims that compile profiles and wrap commands.

They are coarse on purpose: a text with one mistake passes, even if it cannot be parsed. The
requirement that the text breaks then reports the mistake.
"""

from __future__ import annotations

from typing import Any

from boxspec.judge.expect import shown
from boxspec.judge.verdict import Blocked, Failure
from boxspec.subject.client import known
from boxspec.subject.contract import Say
from boxspec.subject.sentinels import Ask, sentinels
from boxspec.subject.sentinels import no as _no
from contracts.sbpl.client import SbplCase, Setup, wrap_message
from contracts.sbpl.text import WRITE

# There are several questions of each kind. So an implementation with one fault answers at least one
# of them correctly.
SETUP = Setup(modify=["src/**", "docs"])
YES = ["/private/tmp/x", "src/x", "docs", "/dev/null"]
NO = ["/usr/x", "secret", "/", "."]

COMMAND: dict[str, Any] = {"argv": ["true"], "wrapper": "present"}
WRAPPED = [COMMAND, {"argv": ["true"], "wrapper": "missing", "allow_fallback": True}]
REFUSED = [
    {"argv": ["true"], "wrapper": "missing"},
    {"argv": [], "wrapper": "present"},
    {"argv": ["true"], "wrapper": "present", "file": "p.sb"},
]

_COMPILE = SETUP.message()
SENTINELS: dict[str, list[Ask]] = {
    "sbpl": [("sbpl.compile", _COMPILE)],
    "sbpl.fold": [("sbpl.compile", {**_COMPILE, "case": "fold"})],
    "sbpl.wrap": [("sbpl.wrap", wrap_message(**COMMAND))],
}


def trust(case: SbplCase, say: Say) -> None:
    sentinels(case.capabilities, lambda message: case.put(message).raw, SENTINELS, say)
    if "sbpl" in case.capabilities:
        _texts(case, say)
    if "sbpl.wrap" in case.capabilities:
        _commands(case, say)


def _texts(case: SbplCase, say: Say) -> None:
    """Check paths that a text allows to write, and similar paths that it denies."""
    first, second = (
        known.result("sbpl.compile", case.sbpl.compile(SETUP).result) for _ in range(2)
    )
    if first != second:
        raise _no(f"one setup is answered with {shown(first)} and then with {shown(second)}")
    try:
        text = case.sbpl.compiled(SETUP)
        yes, other = ([text.allows(WRITE[0], path) for path in paths] for paths in (YES, NO))
    except Failure as why:
        say(f"two texts of one request are equal; the kit cannot evaluate them: {why.got}")
        return
    except Blocked as why:
        say(f"two texts of one request are equal; the kit cannot evaluate them: {why}")
        return
    if all(other):
        raise _no(f"{', '.join(NO)} may be written to: it says yes to all")
    if not any(yes):
        raise _no(f"none of {', '.join(YES)} may be written to: it says no to all")
    say("a text allows and denies the expected paths; two texts of one request are equal")


def _commands(case: SbplCase, say: Say) -> None:
    """Check commands that are wrapped, and similar commands that are refused."""
    yes, other = ([case.sbpl.wrap(**given).ok for given in some] for some in (WRAPPED, REFUSED))
    if all(other):
        raise _no(
            "without the wrapper, without a program, with a relative file a command is made:"
            " it says yes to all"
        )
    if not any(yes):
        raise _no("no command is wrapped, and none falls back: it says no to all")
    say("valid commands are wrapped, and invalid ones refused")
