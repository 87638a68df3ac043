"""Records and result trees as a run would create them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from boxspec.judge.baseline import Baseline
from boxspec.judge.record import Record
from boxspec.judge.repro import RunFlags
from boxspec.judge.requirement_verdicts import judge_requirements
from boxspec.judge.requirements import load
from boxspec.judge.results import ResultTree
from boxspec.judge.verdict import Failure

# The choice of requirements does not matter, but the second requirement of a level must need the
# first one.
MUST, OTHER_MUST = "EXEC-ENV-01", "EXEC-TEXT-01"
HARDENED, SHOULD, CAPPED = "EXEC-SPAWN-07", "EXEC-SPAWN-09", "EXEC-CAP-01"


def record(name: str, why: BaseException | None = None, *more: str, **fields: Any) -> Record:
    """Return the record of a test.

    `name` is the requirement's id, or `ID/NAME` with the test's name; `why` is what the test
    raised.
    """
    requirement, _, test = name.partition("/")
    made = Record(f"conformance/x.py::{test or requirement}", [requirement, *more], **fields)
    if why is not None:
        made.set_verdict(why)
    return made


def failed(what: str = "the output", got: str = "b", **more: Any) -> Failure:
    return Failure(what, "a", got, **more)


def tree(
    records: Sequence[Record],
    *,
    asked: Iterable[str] = (),
    baseline: Baseline | None = None,
    capabilities: Sequence[str] = ("exec",),
    **fields: Any,
) -> ResultTree:
    """Return the result tree of these records; it judges the requirements that they name."""
    names = dict.fromkeys(name for each in records for name in each.requirements)
    selected = {name: load()[name] for name in names}
    judged = judge_requirements(records, selected, capabilities, baseline)
    given: Mapping[str, Any] = {
        "how": RunFlags("./shim"),
        "argv": ["./shim"],
        "hello": {},
        "contracts": list(dict.fromkeys(each.contract for each in selected.values())),
        "not_declared": [],
        "profile": None,
        "duration_s": 1.0,
        **fields,
    }
    return ResultTree(judged=judged, records=list(records), asked=frozenset(asked), **given)
