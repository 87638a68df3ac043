"""Tests of the results of a run in shards."""

from __future__ import annotations

import json

import pytest
from jsonschema_rs import validator_for

from boxspec.errors import UsageError
from boxspec.judge.record import Record
from boxspec.judge.verdict import Blocked, NotMeasured
from boxspec.report import json as json_report
from boxspec.report.join import joined
from boxspec.report.result import Result
from selftest.report.made_results import broken
from selftest.tools import RESULT_SCHEMA, boxspec
from selftest.trees import HARDENED, MUST, OTHER_MUST, record, tree


def shard(number: int, *records: Record, of: int = 2) -> Result:
    found = tree(list(records), shard=(number, of))
    return Result.of(json.loads(json_report.render(json_report.plain(found, 0, "PASS: a part"))))


def test_joined_shards_have_the_verdicts_of_one_run() -> None:
    first = shard(1, record(f"{MUST}/one"), record(OTHER_MUST, Blocked([MUST], "it is broken")))
    second = shard(2, record(f"{MUST}/two", broken()), record(HARDENED, NotMeasured("late")))
    whole = joined([second, first])
    verdicts = {name: each["verdict"] for name, each in whole.requirements.items()}
    assert verdicts == {MUST: "fails", OTHER_MUST: "not-measured", HARDENED: "not-measured"}
    assert whole.requirements[OTHER_MUST]["blocked_by"] == [MUST]
    assert (whole.status, whole.words) == (1, "FAIL: 1 required fails")
    validator_for(json.loads(RESULT_SCHEMA.read_text())).validate(whole.plain)


@pytest.mark.parametrize(
    ("shards", "problem"),
    [
        ([shard(1, record(MUST))], "has the parts 1/2"),
        ([shard(1, record(MUST))] * 2, "has the parts 1/2, 1/2"),
        ([shard(1, record(MUST)), shard(2, record(MUST), of=3)], "has the parts 1/2, 2/3"),
    ],
)
def test_an_incomplete_set_of_shards_is_not_joined(shards: list[Result], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        joined(shards)


def test_each_test_is_in_one_shard() -> None:
    words = ("run", "--contract", "policy", "--topic", "POLICY-GLOB", "--no-cache", "--json", "-")
    found = [json.loads(boxspec(*words, "--shard", f"{part}/2").stdout) for part in (1, 2)]
    names = [{each["id"] for each in one["tests"]} for one in found]
    assert names[0] and names[1] and not names[0] & names[1]
    assert len(names[0] | names[1]) == len(json.loads(boxspec(*words).stdout)["tests"])
