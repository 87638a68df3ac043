"""Faults about egress lists that a session gets in its context."""

import backend.context as context
import backend.ops as ops
from faults.registry import fault, replaces


def unread(closed):
    """Accept a list without checking it. closed: True for profiles without a network, False for
    profiles with one.
    """

    @replaces(ops)
    def read_context(original, value):
        if (value.get("profile") in context.CLOSED) != closed:
            return original(value)
        made = original({name: each for name, each in value.items() if name != "egress"})
        made.egress = value.get("egress") or None
        return made


@fault(
    "BACKEND-EGRESS-01",
    "a session accepts an invalid egress list",
    "checked by the command for a probe",
)
def a_session_takes_any_list():
    unread(closed=False)


@fault(
    "BACKEND-EGRESS-02",
    "a session accepts an egress list although its profile has no network",
    "checked by the one for a probe",
)
def a_session_takes_contradictions():
    unread(closed=True)
