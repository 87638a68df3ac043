"""The one result tree: every output is made from it, nothing is counted twice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from boxspec.judge.baseline import Seen
from boxspec.judge.record import Record
from boxspec.judge.repro import How
from boxspec.judge.requirements import PROFILES, Requirement
from boxspec.judge.verdict import BROKEN, UNDECIDED, Verdict


@dataclass
class Judged:
    """One selected requirement with the records that decide it.

    failing: those that broke it. blocked_by: broken requirements without which it is not decided.
    missing: the capabilities without which it does not apply. lacks: what the host has not, where
    nothing else kept it from being measured.
    """

    requirement: Requirement
    verdict: Verdict
    records: list[Record]
    reason: str = ""
    why: str = ""
    known: bool = False
    failing: list[Record] = field(default_factory=list)
    blocked_by: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    lacks: str = ""

    @property
    def id(self) -> str:
        return self.requirement.id

    @property
    def excused(self) -> bool:
        """Known not to be measured on hosts like this one: the baseline gives that very reason."""
        return self.known and self.verdict is Verdict.NOT_MEASURED

    @property
    def reasons(self) -> list[Seen]:
        """Everything that keeps it from conforming, as a baseline has it."""
        if self.verdict is Verdict.CONFORMS:
            return []
        alike = BROKEN if self.verdict in BROKEN else {self.verdict}
        records = self.failing or [each for each in self.records if each.verdict in alike]
        if not records or self.blocked_by:
            return [Seen("", self.verdict, self.why)]
        return [Seen(each.name, each.verdict, each.why) for each in records]

    @property
    def seen(self) -> list[Seen]:
        """What each of its tests said, those that conform too."""
        if self.blocked_by or not self.records:
            return [Seen("", self.verdict, self.why)]
        return [Seen(each.name, each.verdict, each.why) for each in self.records]


@dataclass
class Tree:
    """asked: requirements that were named by their ids. narrowed: a part of the tests was left out
    by name, mark or topic. started: RFC 3339, UTC. command: the words behind `boxspec`. left: what
    the shim left running, in words. folders: those of cases that cannot be removed, and why. spec:
    the version whose requirements alone are judged."""

    how: How
    argv: list[str]
    hello: dict[str, Any]
    contracts: list[str]
    not_declared: list[str]
    profile: str | None
    judged: list[Judged]
    records: list[Record]
    duration_s: float
    stale: list[str] = field(default_factory=list)
    asked: frozenset[str] = frozenset()
    narrowed: bool = False
    started: str = ""
    command: list[str] = field(default_factory=list)
    left: str = ""
    folders: list[str] = field(default_factory=list)
    spec: str | None = None

    @property
    def name(self) -> str:
        """What is judged, in words."""
        said = self.hello.get("implementation", {})
        if not said:
            return " ".join(self.argv)
        return f"{said.get('name')} {said.get('version')}"

    def of(self, profile: str, level: str, contract: str | None = None) -> tuple[int, int]:
        """How many conform, of how many selected that apply; of one contract or of all."""
        mine = [
            each
            for each in self.judged
            if each.requirement.profile == profile
            and each.requirement.level == level
            and contract in (None, each.requirement.contract)
            and each.verdict is not Verdict.NOT_APPLICABLE
        ]
        return sum(each.verdict is Verdict.CONFORMS for each in mine), len(mine)

    def count(self, verdict: Verdict) -> int:
        return sum(each.verdict is verdict for each in self.judged)

    @property
    def known(self) -> int:
        return sum(each.known for each in self.judged)

    @property
    def late(self) -> int:
        """Tests that were late at some look, which is held against nobody."""
        return sum(record.late_unpunished for record in self.records)

    def not_applicable(self) -> dict[str, list[str]]:
        """The requirements that do not apply, by the capabilities that are missing; not those
        whose escapes were declared or that the conditions of the run change: they are told by
        themselves."""
        found: dict[str, list[str]] = {}
        for each in self.judged:
            told = any(record.escaped or record.changed for record in each.records)
            if each.verdict is Verdict.NOT_APPLICABLE and not told:
                found.setdefault(", ".join(each.missing) or each.reason, []).append(each.id)
        return found

    def counts(self, each: Judged) -> bool:
        """Whether the exit status depends on it."""
        if self.asked:
            return each.id in self.asked
        counted = {"contract"} if self.profile in (None, "contract") else set(PROFILES)
        return each.requirement.level == "MUST" and each.requirement.profile in counted

    @property
    def broken(self) -> list[Judged]:
        """What makes this run exit with 1."""
        return [
            each
            for each in self.judged
            if self.counts(each) and each.verdict in BROKEN and not each.known
        ]

    def incomplete(self, require_complete: bool) -> str | None:
        """Why this run cannot say `conforms`, if it cannot."""
        if not self.contracts:
            return "the shim declares no contract; --contract NAME judges what it declares of one"
        if self.asked:
            return self._undecided([each for each in self.judged if each.id in self.asked])
        for contract in self.contracts:
            why = self._contract_undecided(contract)
            if why is not None:
                return why
        musts = [each for each in self.judged if each.requirement.level == "MUST"]
        if require_complete:
            return self._undecided(musts)
        return self._undecided(
            [
                each
                for each in musts
                if self.counts(each) and each.verdict is Verdict.NOT_MEASURED and not each.lacks
            ]
        )

    def _contract_undecided(self, contract: str) -> str | None:
        mine = [each for each in self.judged if each.requirement.contract == contract]
        musts = [each for each in mine if each.requirement.level == "MUST"]
        # A part of a contract may have no MUST at all.
        asked, kind = (mine, "requirement") if self.narrowed and not musts else (musts, "MUST")
        if any(each.verdict not in UNDECIDED for each in asked):
            return None
        return f"no {kind} of {contract} was decided"

    @staticmethod
    def _undecided(judged: list[Judged]) -> str | None:
        for each in judged:
            if each.verdict in (Verdict.NOT_MEASURED, Verdict.NOT_APPLICABLE) and not each.excused:
                return f"{each.id} is {each.verdict}: {each.reason}"
        return None

    def exit_code(self, *, require_complete: bool = False, strict: bool = False) -> int:
        """The table of design: the first that applies of 2, 1, 3, 4, 0."""
        if any(record.verdict is Verdict.HARNESS_ERROR for record in self.records):
            return 2
        if self.broken:
            return 1
        if self.incomplete(require_complete):
            return 3
        return 4 if strict and self.stale else 0


def why_not(key: str) -> str:
    """A key of `Tree.not_applicable` in words: names of capabilities, or a test's own reason."""
    named = all(" " not in name for name in key.split(", "))
    return f"without {key}" if named else key
