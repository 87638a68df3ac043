"""What one test left: its verdict, why, and where the evidence is."""

from __future__ import annotations

import json
import traceback
from dataclasses import asdict, dataclass, field
from typing import Any

from boxspec.errors import ShimBroke
from boxspec.judge.verdict import Failure, NotApplicable, NotMeasured, Verdict


@dataclass
class Record:
    id: str
    requirements: list[str]
    verdict: Verdict = Verdict.CONFORMS
    seconds: float = 0.0
    what: str = ""
    expected: str = ""
    got: str = ""
    reason: str = ""
    request: str | None = None
    evidence: dict[str, Any] = field(default_factory=dict)
    folder: str | None = None

    def blame(self, why: BaseException) -> None:
        """Take the verdict out of what a body raised."""
        if isinstance(why, Failure):
            self.verdict, self.what = why.verdict, why.what
            self.expected, self.got = why.expected, why.got
            self.evidence = why.evidence
        elif isinstance(why, ShimBroke):
            self.verdict, self.what = Verdict.FAILS, "the shim keeps to the protocol"
            self.expected, self.got = "an answer of the protocol", why.what
            self.evidence = why.evidence
        elif isinstance(why, NotMeasured):
            self.verdict = Verdict.NOT_MEASURED
        elif isinstance(why, NotApplicable):
            self.verdict = Verdict.NOT_APPLICABLE
        else:
            self.verdict, self.what = Verdict.HARNESS_ERROR, "the kit works"
            self.expected, self.got = "no error of the kit", f"{type(why).__name__}: {why}"
            where = traceback.extract_tb(why.__traceback__)[-4:]
            self.evidence = {"raised at": [f"{f.filename}:{f.lineno} {f.name}" for f in where]}
        self.reason = str(why) or type(why).__name__

    def to_json(self) -> dict[str, Any]:
        # default=str: evidence may hold anything that a test found worth showing.
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self), default=str))
        return plain

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Record:
        return cls(**{**plain, "verdict": Verdict(plain["verdict"])})
