"""The record of one test: its verdict, the reason, and the evidence."""

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

    line: line of the test in its file, from 1; 0 if unknown.
    seconds: duration of the test body.
    shim_seconds: the part of `seconds` in which shim processes ran or answered requests.
    why: the part of the reason that is the same in every run.
    symptom: see Failure.
    cases: [failed, total] questions, if the test asks several and was decided.
    needs: requirements that the test relies on.
    blocked_by: requirements that the test itself found to be broken.
    lacks: the feature that this host lacks, so that the test could not be measured.
    missing: capabilities that the shim does not declare, so that the test does not apply.
    changed: the reason why another test replaces this test under the conditions of this run.
    aspect, declared, escaped: for an escape through a declared gap: the aspect or rule, how the gap
        was declared before the run, and the escape that was seen.
    timing: every measurement of a time limit (see timing.py).
    order: the forced order of events, if the record is about an order instead of a test.
    late: True if an attempt exceeded a time limit and scheduling delay may be the cause.
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
    aspect: str = ""
    declared: str = ""
    escaped: str = ""
    changed: str = ""
    order: str = ""
    timing: list[dict[str, Any]] = field(default_factory=list)
    late: bool = False

    @property
    def name(self) -> str:
        """Return the id of the test without its file, because files may be moved."""
        return self.id.partition("::")[2]

    @property
    def to_repeat(self) -> list[str]:
        """Return the words after `boxspec repro` that repeat the test, or the forced order."""
        return ["--order", self.order] if self.order else self.requirements[:1]

    @property
    def late_unpunished(self) -> bool:
        return self.late and self.verdict not in BROKEN

    def set_verdict(self, why: BaseException) -> None:
        """Set the verdict and the reason from the exception that the test body raised."""
        self.reason = str(why) or type(why).__name__
        self.why = stable(self.reason)
        if isinstance(why, Failure):
            self._set_failure(why)
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
                self.aspect = why.aspect
                self.declared, self.escaped = why.declared, why.escaped
            if isinstance(why, Changed):
                self.changed = why.changed
        else:
            self._set_kit_error(why)

    def _set_failure(self, why: Failure) -> None:
        self.verdict, self.what = why.verdict, why.what
        self.expected, self.got = why.expected, why.got
        self.evidence, self.symptom = why.evidence, why.symptom
        self.why = why.why or stable(why.what)
        self.cases = list(why.cases) if why.cases else None
        self.needs = sorted({*self.needs, *why.needs})

    def _set_kit_error(self, why: BaseException) -> None:
        self.verdict, self.what = Verdict.HARNESS_ERROR, "the kit works"
        self.expected, self.got = "no error of the kit", f"{type(why).__name__}: {why}"
        where = traceback.extract_tb(why.__traceback__)[-4:]
        self.evidence = {"raised at": [f"{f.filename}:{f.lineno} {f.name}" for f in where]}

    def to_json(self) -> dict[str, Any]:
        return plain(vars(self))

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Record:
        return cls(**{**plain, "verdict": Verdict(plain["verdict"])})

    def changed_fields(self) -> dict[str, Any]:
        """Return the fields that differ from an empty record. Another process passes them to
        `update`."""
        blank = vars(Record("", []))
        return {name: value for name, value in self.to_json().items() if value != blank[name]}

    def update(self, fields: dict[str, Any]) -> None:
        """Set the fields that another process has sent.

        The record keeps the needs that `@requires` names.
        """
        needs = {*self.needs, *fields.get("needs", ())}
        vars(self).update(fields)
        self.verdict, self.needs = Verdict(self.verdict), sorted(needs)


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy with JSON types only."""
    kept: dict[str, Any] = json.loads(json.dumps(values, default=_plain))
    return kept


def _plain(value: Any) -> Any:
    """Replace a value that JSON cannot hold, because evidence may contain any object."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return str(value)
