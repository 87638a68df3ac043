"""Write the result of a run as JSON (schemas/result.json). All other outputs are made from it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from boxspec import SPEC_VERSION
from boxspec.judge.host import host
from boxspec.judge.kit import kit
from boxspec.judge.record import Record
from boxspec.judge.repro import command, repro_command
from boxspec.judge.requirements import PROFILES, contract_of
from boxspec.judge.results import JudgedRequirement, ResultTree
from boxspec.judge.verdict import BROKEN, Verdict

SCHEMA = "boxspec-result/1"
JUDGED = ("needs", "blocked_by", "lacks", "missing", "aspect", "order", "late")


def render(result: Mapping[str, Any]) -> str:
    return json.dumps(result, indent=2, ensure_ascii=True) + "\n"


def plain(tree: ResultTree, status: int, words: str) -> dict[str, Any]:
    """Return the result as a dictionary.

    status: the exit status of the run.
    words: the meaning of the exit status.
    """
    return {
        "schema": SCHEMA,
        "spec_version": SPEC_VERSION,
        "kit": kit(),
        "started": tree.started,
        "command": command(tree.command),
        "outcome": {"status": status, "words": words},
        "target": {
            "shim": tree.how.shim,
            "argv": tree.argv,
            "implementation": tree.hello.get("implementation", {}),
            "capabilities": tree.hello.get("capabilities", []),
            "spec_version": tree.hello.get("spec_version"),
        },
        "host": host(),
        "selection": {
            "contracts": tree.contracts,
            "not_declared": tree.not_declared,
            "profile": tree.profile or "default",
            "spec": tree.spec,
            "backend": tree.how.backend,
            "chosen": {name: chosen for name, (chosen, _) in tree.chosen.items()},
            "seed": tree.how.seed,
            "isolate": tree.how.isolate,
            "stress": tree.how.stress,
            "busy": tree.how.busy,
            "shard": list(tree.shard) if tree.shard else None,
        },
        "summary": _summary(tree),
        "requirements": [_requirement(each) for each in tree.judged],
        "tests": [_test(tree, record) for record in tree.records],
        "stale": tree.stale,
        "left": [*([tree.left] if tree.left else []), *tree.folders],
    }


def _summary(tree: ResultTree) -> dict[str, Any]:
    asked = [record.cases for record in tree.records if record.cases is not None]
    return {
        **_counts(tree, None),
        "contracts": {name: _counts(tree, name) for name in tree.contracts},
        "not_applicable": tree.not_applicable(),
        "known": tree.known,
        "late": tree.late,
        "vectors": {"failed": sum(each[0] for each in asked), "of": sum(each[1] for each in asked)},
        "duration_s": round(tree.duration_s, 3),
    }


def _counts(tree: ResultTree, contract: str | None) -> dict[str, Any]:
    """Return fractions and verdict counts of one contract, or of all."""
    counts: dict[str, Any] = {}
    for profile in PROFILES:
        counts[profile] = {}
        for level in ("MUST", "SHOULD", "MAY"):
            conforms, of = tree.of(profile, level, contract)
            counts[profile][level.lower()] = {"conforms": conforms, "of": of}
    verdicts = Counter(
        str(each.verdict) for each in tree.judged if contract in (None, each.requirement.contract)
    )
    counts["verdicts"] = dict(sorted(verdicts.items()))
    return counts


def _requirement(each: JudgedRequirement) -> dict[str, Any]:
    return {
        "id": each.id,
        "contract": each.requirement.contract,
        "level": each.requirement.level,
        "profile": each.requirement.profile,
        "clause": each.requirement.clause,
        "source": each.requirement.source,
        "links": dict(each.requirement.links),
        "since": each.requirement.since,
        "verdict": str(each.verdict),
        "tests": [record.id for record in each.records],
        "failing": [record.id for record in each.failing],
        "blocked_by": each.blocked_by,
        "lacks": each.lacks,
        "reason": each.reason,
        "known": each.known,
    }


def _test(tree: ResultTree, record: Record) -> dict[str, Any]:
    fields = record.to_json()
    names = (
        *("id", "line", "requirements", "verdict", "evidence", "seconds", "shim_seconds"),
        *("reason", "why", "request"),
    )
    test = {name: fields[name] for name in names}
    if record.verdict in BROKEN or record.verdict is Verdict.HARNESS_ERROR:
        test.update({name: fields[name] for name in ("what", "expected", "got", "folder")})
    if record.cases is not None:
        test["cases"] = {"failed": record.cases[0], "of": record.cases[1]}
    if record.escaped:
        test.update({name: fields[name] for name in ("declared", "escaped")})
    if record.changed:
        test["changed"] = record.changed
    # `report` needs these facts to judge the requirements of several shards together.
    test.update({name: fields[name] for name in JUDGED if fields[name]})
    test["timing"] = fields["timing"]
    how = tree.how_to_repeat(contract_of(record.requirements[0]))
    test["repro"] = repro_command(record.to_repeat, how)
    return test
