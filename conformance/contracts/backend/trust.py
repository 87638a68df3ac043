"""Trust in shims that run programs inside a backend: they name one, and answer about it.

Coarse on purpose: whether a claim is true is what the requirements ask.
"""

from __future__ import annotations

from boxspec.errors import NotConforming
from boxspec.judge.expect import shown
from boxspec.target.case import Box
from boxspec.target.sentinels import Say, sentinel
from boxspec.target.sentinels import no as _no

WITHIN_S = 30.0
NO_SUCH = "no-such-backend"


def trust(box: Box, say: Say) -> None:
    declared = "backend" in box.capabilities
    name = box.backend.chosen if declared else NO_SUCH
    answer = box.backend.probe("repo-write", backend=name, within_s=WITHIN_S)
    sentinel("backend", declared, answer.raw or {}, say, "backend.probe")
    if not declared:
        return
    unknown = box.backend.probe("repo-write", backend=NO_SUCH, within_s=WITHIN_S)
    if unknown.ok and answer.ok and unknown.result == answer.result:
        raise _unknown(answer.result)
    say(f"{name}: probed; a backend that hello does not name is not")


def _unknown(claims: object) -> NotConforming:
    return _no(f"a backend that hello does not name is probed as the others: {shown(claims)}")
