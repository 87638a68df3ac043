"""What test files import."""

from boxspec.case import Box
from boxspec.client.b64 import b64
from boxspec.errors import ShimBroke
from boxspec.expect import (
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
from boxspec.live import Live
from boxspec.marks import requires
from boxspec.observe.events import Event, Events
from boxspec.observe.procs import Proc
from boxspec.policy import oracle
from boxspec.policy.asking import question, questions, refused
from boxspec.policy.cost import doubled
from boxspec.policy.documents import one_profile, policy
from boxspec.policy.judging import both_ways, judge, same_both_ways
from boxspec.policy.laws import law
from boxspec.policy.trees import Tree
from boxspec.policy.vectors import Group, every, vectors
from boxspec.programs import programs
from boxspec.sbpl import kit as sbpl
from boxspec.sbpl.asking import Setup
from boxspec.sbpl.text import Text
from boxspec.seen import Answer, BatchSeen, Seen
from boxspec.verdict import Failure, NotApplicable, NotMeasured, Verdict

__all__ = [
    "Answer",
    "BatchSeen",
    "Box",
    "Event",
    "Events",
    "Failure",
    "Group",
    "Live",
    "NotApplicable",
    "NotMeasured",
    "Proc",
    "Seen",
    "Setup",
    "ShimBroke",
    "Text",
    "Tree",
    "Verdict",
    "at_least",
    "at_most",
    "b64",
    "between",
    "both_ways",
    "contains",
    "doubled",
    "every",
    "expect",
    "judge",
    "law",
    "matches",
    "one_of",
    "one_profile",
    "oracle",
    "policy",
    "programs",
    "question",
    "questions",
    "refused",
    "requires",
    "same_both_ways",
    "satisfies",
    "sbpl",
    "startswith",
    "vectors",
]
