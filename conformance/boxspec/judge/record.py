"""What one test left: its verdict, why, and where the evidence is."""

from __future__ import annotations

import json
import traceback
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any

from boxspec.errors import ShimBroke
from boxspec.judge.stable import stable
from boxspec.judge.verdict import (
    BROKEN,
    Blocked,
    Changed,
    Declared,
    Failure,
    HostLacks,
    NotApplicable,
    NotMeasured,
    Verdict,
)


@dataclass
class Record:
    """One test of one run.

    line: where it stands in its file, from 1; 0 where that is not known.
    seconds: what its body took. shim_seconds: of that, what its shim processes and answers took.
    why: the part of the reason that is the same in the next run.
    symptom: see Failure.
    cases: [failed, of] questions, for a test that asks many and was decided.
    needs: requirements without which the test decides nothing.
    blocked_by: those that the test itself found broken.
    lacks: the feature of the host without which it was not measured.
    missing: the capabilities without which it does not apply.
    changed: why it does not apply under the conditions of this run; another test does.
    declared, escaped: what was said beforehand not to be held, and what got out.
    timing: each bound of time, each time that it was measured (see timing.py).
    late: at some look something came too late, and the machine may have been the cause.
    """

    id: str
    requirements: list[str]
    verdict: Verdict = Verdict.CONFORMS
    line: int = 0
    seconds: float = 0.0
    shim_seconds: float = 0.0
    what: str = ""
    expected: str = ""
    got: str = ""
    reason: str = ""
    why: str = ""
    symptom: str = ""
    cases: list[int] | None = None
    request: str | None = None
    evidence: dict[str, Any] = field(default_factory=dict)
    folder: str | None = None
    needs: list[str] = field(default_factory=list)
    blocked_by: list[str] = field(default_factory=list)
    lacks: str = ""
    missing: list[str] = field(default_factory=list)
    declared: str = ""
    escaped: str = ""
    changed: str = ""
    timing: list[dict[str, Any]] = field(default_factory=list)
    late: bool = False

    @property
    def name(self) -> str:
        """The id without its file: files are moved."""
        return self.id.partition("::")[2]

    @property
    def late_unpunished(self) -> bool:
        return self.late and self.verdict not in BROKEN

    def blame(self, why: BaseException) -> None:
        """Take the verdict out of what a body raised."""
        self.reason = str(why) or type(why).__name__
        self.why = stable(self.reason)
        if isinstance(why, Failure):
            self._blame_target(why)
        elif isinstance(why, ShimBroke):
            self.verdict, self.what = Verdict.FAILS, why.judged
            self.expected, self.got = why.expected, why.what
            self.evidence, self.symptom = why.evidence, why.symptom
        elif isinstance(why, NotMeasured):
            self.verdict = Verdict.NOT_MEASURED
            self.blocked_by = list(why.by) if isinstance(why, Blocked) else []
            self.lacks = why.feature if isinstance(why, HostLacks) else ""
        elif isinstance(why, NotApplicable):
            self.verdict, self.missing = Verdict.NOT_APPLICABLE, list(why.missing)
            if isinstance(why, Declared):
                self.declared, self.escaped = why.declared, why.escaped
            if isinstance(why, Changed):
                self.changed = why.changed
        else:
            self._blame_kit(why)

    def _blame_target(self, why: Failure) -> None:
        self.verdict, self.what = why.verdict, why.what
        self.expected, self.got = why.expected, why.got
        self.evidence, self.symptom = why.evidence, why.symptom
        self.why = why.why or stable(why.what)
        self.cases = list(why.cases) if why.cases else None
        self.needs = sorted({*self.needs, *why.needs})

    def _blame_kit(self, why: BaseException) -> None:
        self.verdict, self.what = Verdict.HARNESS_ERROR, "the kit works"
        self.expected, self.got = "no error of the kit", f"{type(why).__name__}: {why}"
        where = traceback.extract_tb(why.__traceback__)[-4:]
        self.evidence = {"raised at": [f"{f.filename}:{f.lineno} {f.name}" for f in where]}

    def to_json(self) -> dict[str, Any]:
        return plain(vars(self))

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Record:
        return cls(**{**plain, "verdict": Verdict(plain["verdict"])})

    def told(self) -> dict[str, Any]:
        """What differs from a record of which nothing is known, for `take` in another process."""
        blank = vars(Record("", []))
        return {name: value for name, value in self.to_json().items() if value != blank[name]}

    def take(self, told: dict[str, Any]) -> None:
        """What another process told; what the mark of the test needs is known here alone."""
        needs = {*self.needs, *told.get("needs", ())}
        vars(self).update(told)
        self.verdict, self.needs = Verdict(self.verdict), sorted(needs)


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON keeps it."""
    kept: dict[str, Any] = json.loads(json.dumps(values, default=_plain))
    return kept


def _plain(value: Any) -> Any:
    """Evidence may hold anything that a test found worth showing."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return str(value)
