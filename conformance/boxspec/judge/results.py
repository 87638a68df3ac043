"""Compute the result of a run.

All outputs are made from this result, so that they show the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from boxspec.judge.baseline import VerdictReason
from boxspec.judge.record import Record
from boxspec.judge.repro import RunFlags
from boxspec.judge.requirements import LEVELS, PROFILES, Requirement, kind_of
from boxspec.judge.verdict import BROKEN, OBSERVED, UNDECIDED, Verdict


@dataclass
class JudgedRequirement:
    """One selected requirement with the records of its tests.

    failing: the records that break the requirement.
    blocked_by: broken requirements that this one needs, so it cannot be decided.
    missing: capabilities that the requirement needs and the shim does not declare.
    lacks: the missing feature of the host, if no other reason prevented the measurement.
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
        """True if the baseline accepts that this requirement is not measured for this reason."""
        return self.known and self.verdict is Verdict.NOT_MEASURED

    @property
    def reasons(self) -> list[VerdictReason]:
        """Return every reason why the requirement does not conform, as a baseline stores it."""
        if self.verdict is Verdict.CONFORMS:
            return []
        alike = BROKEN if self.verdict in BROKEN else {self.verdict}
        records = self.failing or [each for each in self.records if each.verdict in alike]
        if not records or self.blocked_by:
            return [VerdictReason("", self.verdict, self.why)]
        return [VerdictReason(each.name, each.verdict, each.why) for each in records]

    @property
    def test_reasons(self) -> list[VerdictReason]:
        """Return the verdict of each test of the requirement, including tests that conform."""
        if self.blocked_by or not self.records:
            return [VerdictReason("", self.verdict, self.why)]
        return [VerdictReason(each.name, each.verdict, each.why) for each in self.records]


@dataclass
class ResultTree:
    """The result of one run.

    asked: requirements that the user named by id.
    narrowed: True if a name, mark or topic left out some tests.
    started: time in RFC 3339, UTC.
    command: the words after `boxspec`.
    left: a text about processes that the shim left running.
    folders: case folders that cannot be removed, with the reason.
    spec: the version of the specification whose requirements are counted; None counts all.
    chosen: for a contract with a choice of backends: the name of the backend that the kit chose,
        and the names of the others.
    claims: the claim for each aspect, by contract: fully, partial, unavailable.
    shard: K and N, if the run has only the K-th of N parts of the tests.
    fail_fast: True if the run stops at the first failure that counts.
    """

    how: RunFlags
    argv: list[str]
    hello: dict[str, Any]
    contracts: list[str]
    not_declared: list[str]
    profile: str | None
    judged: list[JudgedRequirement]
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
    chosen: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    claims: dict[str, dict[str, str]] = field(default_factory=dict)
    fail_fast: bool = False
    shard: tuple[int, int] | None = None

    @property
    def name(self) -> str:
        """Return the name and version of the implementation, or the command of its shim."""
        implementation = self.hello.get("implementation", {})
        if not implementation:
            return " ".join(self.argv)
        return f"{implementation.get('name')} {implementation.get('version')}"

    def how_to_repeat(self, contract: str) -> RunFlags:
        """Return the options that repeat a test of this contract. The backend that the kit chose is
        named."""
        if self.how.backend is None and contract in self.chosen:
            return replace(self.how, backend=self.chosen[contract][0])
        return self.how

    def of(self, profile: str, level: str, contract: str | None = None) -> tuple[int, int]:
        """Return how many requirements conform, and how many were selected and apply."""
        mine = [
            each
            for each in self.judged
            if each.requirement.profile == profile
            and each.requirement.level == level
            and contract in (None, each.requirement.contract)
            and each.verdict is not Verdict.NOT_APPLICABLE
        ]
        return sum(each.verdict is Verdict.CONFORMS for each in mine), len(mine)

    def of_kind(self, kind: str, contract: str | None = None) -> tuple[int, int]:
        """Return the two numbers of `of` for the requirements of one kind (see KINDS)."""
        pairs = [
            self.of(profile, level, contract)
            for profile in PROFILES
            for level in LEVELS
            if kind_of(level, profile) == kind
        ]
        conforming, asked = zip(*pairs, strict=True)
        return sum(conforming), sum(asked)

    def count(self, verdict: Verdict) -> int:
        return sum(each.verdict is verdict for each in self.judged)

    @property
    def known(self) -> int:
        return sum(each.known for each in self.judged)

    @property
    def late(self) -> int:
        """Return how many tests had a late attempt, but did not fail because of it."""
        return sum(record.late_unpunished for record in self.records)

    def not_applicable(self) -> dict[str, list[str]]:
        """Group the requirements that do not apply by the missing capabilities.

        Declared escapes, and tests that the conditions of the run replace, are left out: the
        summary lists them separately.
        """
        found: dict[str, list[str]] = {}
        for each in self.judged:
            listed_separately = any(record.escaped or record.changed for record in each.records)
            if each.verdict is Verdict.NOT_APPLICABLE and not listed_separately:
                found.setdefault(", ".join(each.missing) or each.reason, []).append(each.id)
        return found

    def counts(self, each: JudgedRequirement) -> bool:
        """True if a failure of this requirement can change the exit status."""
        return counts(each.requirement, each.verdict, self.asked, self.profile)

    @property
    def broken(self) -> list[JudgedRequirement]:
        """Return the broken requirements that make this run exit with status 1."""
        return [each for each in self.failed if self.counts(each)]

    @property
    def failed(self) -> list[JudgedRequirement]:
        """Return the requirements of any level and profile that are broken, in page order."""
        return [each for each in self.judged if each.verdict in BROKEN and not each.known]

    def incomplete(self, require_complete: bool) -> str | None:
        """Return the reason why the run is incomplete, or None if it is complete.

        An incomplete run cannot end with `conforms`.
        """
        if self.shard:
            # A shard runs only some tests, so only the joined result shows whether each requirement
            # was tested.
            return None
        if not self.contracts:
            return "the shim declares no contract; use --contract NAME to judge a part of one"
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
        # The selected part of a contract may contain no MUST. Then all selected requirements of it
        # are counted.
        asked, kind = (mine, "requirement") if self.narrowed and not musts else (musts, "MUST")
        if any(each.verdict not in UNDECIDED for each in asked):
            return None
        return f"no {kind} of {contract} was decided"

    @staticmethod
    def _undecided(judged: list[JudgedRequirement]) -> str | None:
        for each in judged:
            if each.verdict in (Verdict.NOT_MEASURED, Verdict.NOT_APPLICABLE) and not each.excused:
                return f"{each.id} is {each.verdict}: {each.reason}"
        return None

    def exit_code(self, *, require_complete: bool = False, strict: bool = False) -> int:
        """Return the exit status. The conditions are checked in the order 2, 1, 3, 4, 0."""
        if any(record.verdict is Verdict.HARNESS_ERROR for record in self.records):
            return 2
        if self.broken:
            return 1
        if self.incomplete(require_complete):
            return 3
        return 4 if strict and self.stale else 0


def counts(each: Requirement, verdict: Verdict, asked: frozenset[str], profile: str | None) -> bool:
    """True if a failure of this requirement with this verdict can change the exit status.

    asked, profile: as in ResultTree.
    """
    if asked:
        return each.id in asked
    counted = {"contract"} if profile in (None, "contract") else set(PROFILES)
    # An escape that an observer saw disproves a claim of the implementation, in any profile.
    if verdict in OBSERVED:
        counted = set(PROFILES)
    return each.level == "MUST" and each.profile in counted


def why_not(key: str) -> str:
    """Return a text for a key of `not_applicable`.

    A key is a list of capabilities or the reason of a test.
    """
    named = all(" " not in name for name in key.split(", "))
    return f"without {key}" if named else key
