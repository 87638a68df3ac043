"""What test files import."""

from boxspec.errors import ShimBroke
from boxspec.judge.expect import (
    at_least,
    at_most,
    between,
    contains,
    expect,
    matches,
    one_of,
    satisfies,
    startswith,
)
from boxspec.judge.marks import requires
from boxspec.judge.verdict import (
    Blocked,
    Changed,
    Declared,
    Failure,
    HostLacks,
    Late,
    NotApplicable,
    NotMeasured,
    Verdict,
)
from boxspec.programs import programs
from boxspec.target.bounds import expect_no_longer, expect_within, for_the_prompt
from boxspec.target.case import Box
from boxspec.target.client import known
from boxspec.target.client.b64 import b64
from boxspec.target.cost import Question, doubled
from boxspec.target.idle import Idle
from boxspec.target.laws import law
from boxspec.target.live import Live
from boxspec.target.observe.events import Event, Events
from boxspec.target.observe.procs import Proc
from boxspec.target.observe.stamps import Stamp
from boxspec.target.observed import Answer, Observed, Told
from boxspec.target.waiting import waited_between

__all__ = [
    "Answer",
    "Blocked",
    "Box",
    "Changed",
    "Declared",
    "Event",
    "Events",
    "Failure",
    "HostLacks",
    "Idle",
    "Late",
    "Live",
    "NotApplicable",
    "NotMeasured",
    "Observed",
    "Proc",
    "Question",
    "ShimBroke",
    "Stamp",
    "Told",
    "Verdict",
    "at_least",
    "at_most",
    "b64",
    "between",
    "contains",
    "doubled",
    "expect",
    "expect_no_longer",
    "expect_within",
    "for_the_prompt",
    "known",
    "law",
    "matches",
    "one_of",
    "programs",
    "requires",
    "satisfies",
    "startswith",
    "waited_between",
]
