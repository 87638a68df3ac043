"""The one result tree: every output is made from it, nothing is counted twice."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from boxspec import SPEC_VERSION
from boxspec.judge.baseline import Baseline
from boxspec.judge.record import Record
from boxspec.judge.repro import repro_command
from boxspec.judge.requirements import PROFILES, Requirement, load, select
from boxspec.judge.verdict import BROKEN, UNDECIDED, Verdict, worst

SCHEMA = "boxspec-result/1"


@dataclass
class Judged:
    """One selected requirement with the records that decide it."""

    requirement: Requirement
    verdict: Verdict
    records: list[Record]
    reason: str = ""
    known: bool = False

    @property
    def elsewhere(self) -> bool:
        """Known not to be measured on hosts like this one: the baseline gives that very reason."""
        return self.known and self.verdict is Verdict.NOT_MEASURED


@dataclass
class Tree:
    shim: str | None
    argv: list[str]
    hello: dict[str, Any]
    contracts: list[str]
    not_declared: list[str]
    profile: str | None
    judged: list[Judged]
    records: list[Record]
    duration_s: float
    seed: int = 0
    stale: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """What is judged, in words."""
        said = self.hello.get("implementation", {})
        if not said:
            return " ".join(self.argv)
        return f"{said.get('name')} {said.get('version')}"

    def of(self, profile: str, level: str, contract: str | None = None) -> tuple[int, int]:
        """How many conform, of how many selected; of one contract or of all."""
        mine = [
            each
            for each in self.judged
            if each.requirement.profile == profile
            and each.requirement.level == level
            and contract in (None, each.requirement.contract)
        ]
        return sum(each.verdict is Verdict.CONFORMS for each in mine), len(mine)

    def count(self, verdict: Verdict) -> int:
        return sum(each.verdict is verdict for each in self.judged)

    @property
    def known(self) -> int:
        return sum(each.known for each in self.judged)

    def incomplete(self, require_complete: bool) -> str | None:
        """Why this run cannot say `conforms`, if it cannot."""
        if not self.contracts:
            return "the shim declares no contract; --contract NAME judges what it declares of one"
        for contract in self.contracts:
            decided = [
                each
                for each in self.judged
                if each.requirement.contract == contract
                and each.requirement.level == "MUST"
                and each.verdict not in UNDECIDED
            ]
            if not decided:
                return f"no MUST of {contract} was decided"
        if require_complete:
            for each in self.judged:
                undecided = each.verdict in (Verdict.NOT_MEASURED, Verdict.NOT_APPLICABLE)
                if undecided and each.requirement.level == "MUST" and not each.elsewhere:
                    return f"{each.requirement.id} is {each.verdict}"
        return None

    def exit_code(self, *, require_complete: bool = False, strict: bool = False) -> int:
        """The table of design: the first that applies of 2, 1, 3, 4, 0."""
        counted = {"contract"} if self.profile in (None, "contract") else set(PROFILES)
        if any(record.verdict is Verdict.HARNESS_ERROR for record in self.records):
            return 2
        for each in self.judged:
            must = each.requirement.level == "MUST" and each.requirement.profile in counted
            if must and each.verdict in BROKEN and not each.known:
                return 1
        if self.incomplete(require_complete):
            return 3
        return 4 if strict and self.stale else 0

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "spec_version": SPEC_VERSION,
            "target": {
                "shim": self.shim,
                "argv": self.argv,
                "implementation": self.hello.get("implementation", {}),
                "capabilities": self.hello.get("capabilities", []),
                "spec_version": self.hello.get("spec_version"),
            },
            "host": host(),
            "selection": {
                "contracts": self.contracts,
                "not_declared": self.not_declared,
                "profile": self.profile or "default",
                "seed": self.seed,
            },
            "summary": self._summary(),
            "requirements": [
                {
                    "id": each.requirement.id,
                    "level": each.requirement.level,
                    "profile": each.requirement.profile,
                    "verdict": str(each.verdict),
                    "tests": [record.id for record in each.records],
                    "reason": each.reason,
                    "known": each.known,
                }
                for each in self.judged
            ],
            "tests": [self._test(record) for record in self.records],
            "stale": self.stale,
        }

    def _summary(self) -> dict[str, Any]:
        return {
            **self._counts(None),
            "contracts": {name: self._counts(name) for name in self.contracts},
            "known": self.known,
            "duration_s": round(self.duration_s, 3),
        }

    def _counts(self, contract: str | None) -> dict[str, Any]:
        """Fractions and verdicts, of one contract or of all."""
        counts: dict[str, Any] = {}
        for profile in PROFILES:
            counts[profile] = {}
            for level in ("MUST", "SHOULD", "MAY"):
                conforms, of = self.of(profile, level, contract)
                counts[profile][level.lower()] = {"conforms": conforms, "of": of}
        verdicts = Counter(
            str(each.verdict)
            for each in self.judged
            if contract in (None, each.requirement.contract)
        )
        counts["verdicts"] = dict(sorted(verdicts.items()))
        return counts

    def _test(self, record: Record) -> dict[str, Any]:
        plain = record.to_json()
        names = ("id", "requirements", "verdict", "evidence", "seconds", "reason", "request")
        test = {name: plain[name] for name in names}
        if record.verdict in BROKEN or record.verdict is Verdict.HARNESS_ERROR:
            test.update({name: plain[name] for name in ("what", "expected", "got", "folder")})
        test["repro"] = repro_command(record, self.shim)
        return test


def host() -> dict[str, Any]:
    """The facts of this machine that a verdict may depend on."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "cpus": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "root": os.geteuid() == 0,
    }


def judge(
    records: Iterable[Record],
    selected: Mapping[str, Requirement],
    capabilities: Iterable[str],
    baseline: Baseline | None = None,
) -> list[Judged]:
    """The worst verdict of each selected requirement."""
    deciding: dict[str, list[Record]] = {name: [] for name in selected}
    for record in records:
        for name in record.requirements:
            if name in deciding:
                deciding[name].append(record)
    declared = set(capabilities)
    judged = []
    for name, requirement in selected.items():
        mine = deciding[name]
        verdict = worst(record.verdict for record in mine)
        reason = next((r.reason for r in mine if r.verdict is verdict), "")
        if not mine:
            reason = "no test of it was run"
        needed = requirement.capability
        if needed is not None and needed not in declared:
            verdict, reason = Verdict.NOT_APPLICABLE, f"the shim does not declare {needed}"
        known = baseline is not None and baseline.covers(name, verdict, reason)
        judged.append(Judged(requirement, verdict, mine, reason, known))
    return judged


def selection(
    contracts: list[str] | None,
    profile: str | None,
    capabilities: Iterable[str],
    named: set[str] | None,
) -> tuple[list[str], list[str], dict[str, Requirement]]:
    """Contracts that are judged, contracts not declared, and the selected requirements.

    `named` are the requirements of a selection by expression or id; None is everything.
    """
    declared = set(capabilities)
    every = list(dict.fromkeys(each.contract for each in load().values()))
    chosen = contracts
    if chosen is None:
        # Half of a contract may be asked for; one that nothing was asked of is not a part of it.
        asked = every if named is None else {load()[name].contract for name in named}
        spoken = [name for name in every if name in declared]
        chosen = [name for name in spoken if name in asked] or spoken
    missing = [name for name in every if name not in declared]
    kinds = PROFILES if profile in (None, "all") else (profile,)
    found = select(chosen, kinds)
    if named is not None:
        found = {name: each for name, each in found.items() if name in named}
    return chosen, missing, found
