"""Everything that a test file imports from the kit."""

from boxspec.errors import ShimBroke
from boxspec.judge.expect import (
    at_least,
    at_most,
    between,
    contains,
    endswith,
    expect,
    one_of,
    satisfies,
    startswith,
)
from boxspec.judge.requires import requires
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
from boxspec.subject.bounds import expect_no_longer, expect_within, for_the_prompt
from boxspec.subject.case import Case
from boxspec.subject.client import known
from boxspec.subject.client.b64 import b64
from boxspec.subject.cost import Question, doubled
from boxspec.subject.idle import Idle
from boxspec.subject.laws import law
from boxspec.subject.observe.events import Event, Events
from boxspec.subject.observe.facts import written
from boxspec.subject.observe.procs import Proc
from boxspec.subject.observe.stamps import Stamp
from boxspec.subject.observed import Answer, AnswerText, Observed
from boxspec.subject.open_guard import expect_fifo
from boxspec.subject.shim_process import ShimProcess
from boxspec.subject.waiting import waited_between

__all__ = [
    "Answer",
    "AnswerText",
    "Blocked",
    "Case",
    "Changed",
    "Declared",
    "Event",
    "Events",
    "Failure",
    "HostLacks",
    "Idle",
    "Late",
    "NotApplicable",
    "NotMeasured",
    "Observed",
    "Proc",
    "Question",
    "ShimBroke",
    "ShimProcess",
    "Stamp",
    "Verdict",
    "at_least",
    "at_most",
    "b64",
    "between",
    "contains",
    "doubled",
    "endswith",
    "expect",
    "expect_fifo",
    "expect_no_longer",
    "expect_within",
    "for_the_prompt",
    "known",
    "law",
    "one_of",
    "programs",
    "requires",
    "satisfies",
    "startswith",
    "waited_between",
    "written",
]
