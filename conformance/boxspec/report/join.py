"""Join the results of the shards of one run."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import fields

from boxspec.errors import UsageError
from boxspec.judge.record import Record
from boxspec.judge.requirement_verdicts import judge_requirements
from boxspec.judge.requirements import load
from boxspec.judge.results import ResultTree
from boxspec.judge.verdict import BROKEN, Verdict
from boxspec.report import json as json_report
from boxspec.report import summary
from boxspec.report.result import Plain, Result

# All shards of one run have equal values of these fields.
ALIKE = ("contracts", "not_declared", "profile", "spec", "backend", "seed", "isolate", "stress")


def shard_of(result: Result) -> tuple[int, int] | None:
    """Return K and N if the result is from the K-th of N parts of the tests, else None."""
    found = result.plain["selection"].get("shard")
    return (found[0], found[1]) if found else None


def joined(results: Sequence[Result]) -> Result:
    """Return one result for all shards. It has the verdicts of a run without shards.

    Raise a UsageError if a shard is missing or exists twice, or if the shards are not of one run.
    """
    first = min(results, key=lambda each: shard_of(each) or (0, 0))
    _expect_one_run(results, first)
    records = [_record(test) for each in results for test in each.plain["tests"]]
    names = [name for name in load() if any(name in each.requirements for each in results)]
    capabilities = first.plain["target"]["capabilities"]
    selection = first.plain["selection"]
    profile = selection["profile"]
    tree = ResultTree(
        how=first.how,
        argv=list(first.plain["target"]["argv"]),
        hello=dict(first.plain["target"]),
        contracts=list(selection["contracts"]),
        not_declared=list(selection["not_declared"]),
        profile=None if profile == "default" else profile,
        judged=judge_requirements(records, {name: load()[name] for name in names}, capabilities),
        records=records,
        duration_s=max(each.plain["summary"]["duration_s"] for each in results),
        started=min(each.started for each in results),
        command=_command(first),
        folders=[line for each in results for line in each.plain["left"]],
        spec=selection.get("spec"),
        chosen={name: (chosen, []) for name, chosen in selection.get("chosen", {}).items()},
    )
    for each in tree.judged:
        mine = [
            result.requirements[each.id] for result in results if each.id in result.requirements
        ]
        broken = [one for one in mine if one["verdict"] in BROKEN]
        each.known = bool(broken) and all(one["known"] for one in broken)
    status = tree.exit_code()
    verdict = summary.verdict(tree, status, tree.incomplete(False), interrupted=False)
    return Result.of(json_report.plain(tree, status, ": ".join(verdict)))


def _expect_one_run(results: Sequence[Result], first: Result) -> None:
    of = (shard_of(first) or (1, 1))[1]
    found = sorted(shard_of(each) or (0, 0) for each in results)
    if found != [(number, of) for number in range(1, of + 1)]:
        have = ", ".join(f"{number}/{all_}" for number, all_ in found)
        raise UsageError("report", f"has the parts {have}", f"name each of the {of} results once")
    for each in results:
        for what in ALIKE:
            if each.plain["selection"].get(what) != first.plain["selection"].get(what):
                raise UsageError(
                    "report", f"has parts that differ in {what}", "name the parts of one run"
                )
        if each.name != first.name:
            raise UsageError(
                "report", "has parts of several implementations", "join each by itself"
            )


def _record(test: Plain) -> Record:
    names = {each.name for each in fields(Record)}
    given = {name: value for name, value in test.items() if name in names}
    given["verdict"] = Verdict(given["verdict"])
    cases = given.get("cases")
    given["cases"] = [cases["failed"], cases["of"]] if cases else None
    return Record(**given)


def _command(first: Result) -> list[str]:
    """Return the words of the command after `boxspec`, without the shard."""
    words = iter(shlex.split(first.plain["command"])[1:])
    kept = []
    for word in words:
        if word == "--shard":
            next(words, None)
        elif not word.startswith("--shard="):
            kept.append(word)
    return kept
