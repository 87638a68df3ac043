"""Make results of invented implementations in the form of a run.

They are random with a fixed seed, so they are the same each time.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from boxspec.judge.record import Record
from boxspec.judge.repro import RunFlags
from boxspec.judge.requirement_verdicts import judge_requirements
from boxspec.judge.requirements import load
from boxspec.judge.results import ResultTree
from boxspec.judge.verdict import Failure, HostLacks, NotApplicable, NotMeasured, Verdict
from boxspec.report import json as json_report
from boxspec.report.result import Result

# A hostile text, as a name or in a log.
HOSTILE = "<script>document.title='owned'</script>&amp;\x1b[31m\n## ``` | \"'\u202e]]>"


def _blamed(chance: random.Random, name: str) -> BaseException | None:
    drawn = chance.random()
    if drawn < 0.86:
        return None
    if drawn < 0.94:
        evidence = {"shim": "exited 0 after 61.8 ms", "log": ["a line of what was seen"] * 12}
        kinds = [Verdict.FAILS, Verdict.FAILS, Verdict.CONTRADICTION, Verdict.OVERREFUSED]
        return Failure(f"part {chance.randrange(9)}", "[]", name, evidence, chance.choice(kinds))
    if drawn < 0.96:
        return NotMeasured("nobody looked")
    return HostLacks("root", "this is another user") if drawn < 0.98 else NotApplicable.without("x")


def made(
    name: str = "made",
    version: str = "1.0",
    *,
    seed: int = 0,
    tests: int = 4,
    only: str | None = None,
    blamed: Mapping[str, BaseException] | None = None,
    started: str = "2026-11-01T10:00:00Z",
    backend: str | None = None,
    control: bool = False,
    **fields: Any,
) -> Result:
    """Make a result.

    tests: number of tests per requirement.
    only: the contract of the requirements.
    blamed: requirements that fail, each with the exception of its first test. All other tests
        conform. If it is None, verdicts are random.
    """
    chance = random.Random(seed)
    selected = {
        each.id: each for each in load().values() if each.testable and only in (None, each.contract)
    }
    records = []
    for requirement in selected.values():
        for number in range(tests):
            file = f"test_{requirement.topic.partition('-')[2].lower()}.py"
            test = f"test_{requirement.id.lower().replace('-', '_')}[{number}]"
            record = Record(
                f"conformance/contracts/{requirement.contract}/{file}::{test}",
                [requirement.id],
                line=10 + number,
                seconds=round(chance.random(), 4),
                shim_seconds=round(chance.random() / 2, 4),
                request='{"op": "exec.run", "request": {"program": "true"}}',
            )
            if blamed is None:
                why = _blamed(chance, f"{name} {number}")
            else:
                why = blamed.get(requirement.id) if number == 0 else None
            if why is not None:
                record.set_verdict(why)
            records.append(record)
    contracts = list(dict.fromkeys(each.contract for each in selected.values()))
    capabilities = {*contracts, *(each.capability for each in selected.values() if each.capability)}
    given: dict[str, Any] = {
        "how": RunFlags(f"./{name}", backend),
        "argv": [f"./{name}"],
        "hello": {
            "implementation": {"name": name, "version": version, "control": control},
            "capabilities": sorted(capabilities),
            "spec_version": "1.0",
        },
        "contracts": contracts,
        "not_declared": [],
        "profile": None,
        "duration_s": 61.5,
        "started": started,
        "command": ["run", "--shim", f"./{name}"],
        **fields,
    }
    tree = ResultTree(
        judged=judge_requirements(records, selected, capabilities), records=records, **given
    )
    status = tree.exit_code()
    words = {0: "conforms", 1: f"does not conform: breaks {len(tree.broken)} contract MUSTs"}
    return Result.of(json_report.plain(tree, status, words.get(status, "incomplete: not asked")))


def broken(text: str = "b", **more: Any) -> Failure:
    """Return a failure with this text as the actual output and in its evidence."""
    return Failure("the output", "a", text, {"log": [text] * 3}, **more)
