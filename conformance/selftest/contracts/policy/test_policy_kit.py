"""Tests of the helpers of the glob and policy tests: vectors, oracle, blame, laws and costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from jsonschema_rs import Draft202012Validator, meta

from boxspec.errors import ShimBroke, UsageError
from boxspec.judge.verdict import Blocked, Failure, NotApplicable, Verdict
from boxspec.subject.cost import cpu_ms, spent
from boxspec.subject.laws import law
from boxspec.subject.session import Session
from contracts.policy import vectors
from contracts.policy.client import PolicyCase, question
from contracts.policy.deciding import judge_decisions
from contracts.policy.judging import judge
from contracts.policy.trees import Tree
from contracts.shared import globs as oracle
from contracts.shared.documents import one_profile
from selftest.tools import FAKE

FILES = sorted(path for path in vectors.FOLDER.glob("*.json") if ".schema." not in path.name)
CAPABILITIES = frozenset({"path", "glob", "policy", "policy.load", "policy.json"})


@pytest.fixture
def case() -> Iterator[PolicyCase]:
    session = Session((str(FAKE), "literal"), seed=7)
    session.capabilities = CAPABILITIES
    made = PolicyCase(session, "kit")
    yield made
    made.close(keep=False)
    session.close()


def vector(name: str, kind: str, **fields: Any) -> vectors.Vector:
    entry = {"id": name, "requirement": "POLICY-GLOB-01", "kind": kind, "why": "w.", **fields}
    return vectors.Vector(name, ("POLICY-GLOB-01",), kind, "w.", entry)


def group(*members: vectors.Vector) -> vectors.Group:
    return vectors.Group(("POLICY-GLOB-01",), members)


# Vectors ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_of_vectors_follows_its_schema(path: Path) -> None:
    schema = json.loads((vectors.FOLDER / "vector.schema.json").read_text())
    meta.validate(schema)
    Draft202012Validator(schema).validate(json.loads(path.read_text()))


def test_each_allowed_counterpart_is_a_vector() -> None:
    every = vectors.every()
    assert [
        each.id for each in every.values() if each.counterpart and each.counterpart not in every
    ] == []


def test_globs_and_paths_of_the_vectors_are_answered_by_the_oracle() -> None:
    for each in vectors.every().values():
        if each.requirements[0].startswith("POLICY-COST") or "case" in each.fields:
            continue
        if each.kind == "normalize":
            normal = oracle.normal_path(each.word("path"))
            assert normal == each.fields.get("normal"), each.id
        elif each.kind == "glob":
            path = oracle.normal_path(each.word("path"))
            glob = oracle.normal_body(each.word("pattern").decode())
            if "refused" in each.fields:
                assert path is None, each.id
            else:
                assert path is not None, each.id
                assert glob is not None, each.id
                assert oracle.matches(glob, path) == each.fields["match"], each.id


def test_an_id_that_is_given_twice_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = dict(vector("GLOB-0001", "glob", pattern="a", path="a", match=True).fields)
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(json.dumps({"topic": "POLICY-GLOB", "vectors": [entry]}))
    monkeypatch.setattr(vectors, "FOLDER", tmp_path)
    with pytest.raises(UsageError, match="GLOB-0001 twice"):
        vectors.every.__wrapped__()


@pytest.mark.parametrize(
    "change", [{"requirement": "POLICY-NOTHING-01"}, {"kind": "guess"}, {"id": None, "kind": 5}]
)
def test_a_vector_without_a_possible_request_is_refused(
    change: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = {**vector("GLOB-0001", "glob").fields, **change}
    (tmp_path / "a.json").write_text(json.dumps({"topic": "POLICY-GLOB", "vectors": [entry]}))
    monkeypatch.setattr(vectors, "FOLDER", tmp_path)
    with pytest.raises(UsageError):
        vectors.every.__wrapped__()


def test_repetitions_are_expanded() -> None:
    parts = {"head": "<", "unit": "ab", "times": 3, "tail": ">"}
    assert vectors.repeated(parts) == "<ababab>"
    assert vector("X", "glob", path_repeat=parts).word("path") == b"<ababab>"


# Judging ------------------------------------------------------------------------------------

RIGHT = {"pattern": "a", "path": "a", "match": True}
WRONG = {"pattern": "a", "path": "a", "match": False}


def test_a_conforming_group_causes_no_report(case: PolicyCase) -> None:
    judge(
        case,
        group(
            vector("V-1", "glob", **RIGHT), vector("V-2", "normalize", path="a//b", normal="a/b")
        ),
    )


def test_a_failure_names_all_vectors_and_shows_the_first(case: PolicyCase) -> None:
    wrong = [vector(f"V-{number}", "glob", **WRONG) for number in range(3)]
    with pytest.raises(Failure) as failed:
        judge(case, group(vector("V-9", "glob", **RIGHT), *wrong))
    assert "V-0" in failed.value.what
    assert "3 of 4 fail: V-0 V-1 V-2" in failed.value.evidence["vectors"]
    assert case.asked == {"op": "glob.match", "pattern": "a", "paths": ["a"]}


def test_a_refusal_without_a_working_counterpart_is_unproven(
    case: PolicyCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = {"path": "/a", "refused": True, "counterpart": "T-1"}
    for counterpart, verdict in ((RIGHT, None), (WRONG, Verdict.UNPROVEN)):
        known = {"T-1": vector("T-1", "glob", **counterpart)}
        monkeypatch.setattr("contracts.policy.judging.every", known.copy)
        case.session.outcomes.clear()
        if verdict is None:
            judge(case, group(vector("V-1", "normalize", **refusal)))
            continue
        with pytest.raises(Failure) as failed:
            judge(case, group(vector("V-1", "normalize", **refusal)))
        assert failed.value.verdict is verdict


def test_a_refused_valid_input_is_overrefused(case: PolicyCase) -> None:
    with pytest.raises(Failure) as failed:
        judge(case, group(vector("V-1", "normalize", path="/a", normal="a")))
    assert failed.value.verdict is Verdict.OVERREFUSED


def test_vectors_beyond_the_capabilities_are_left_out(case: PolicyCase) -> None:
    folded = vector("V-1", "glob", **{**WRONG, "case": "fold"})
    judge(case, group(vector("V-2", "glob", **RIGHT), folded))
    with pytest.raises(NotApplicable, match=r"policy\.fold"):
        judge(case, group(folded))


def test_a_crash_blames_only_the_vector_in_flight(
    case: PolicyCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The session ends before the second of three requests, and does not report this to the kit."""
    asked = []

    def put(message: dict[str, Any], within_s: float | None = None) -> Any:
        asked.append(message)
        if len(asked) == 2:
            os.kill(case.session.serve().shim_pid, 9)
        return original(message, within_s)

    original = case.put
    monkeypatch.setattr(case, "put", put)
    members = [vector(f"V-{number}", "glob", **RIGHT) for number in range(3)]
    with pytest.raises(Failure) as failed:
        judge(case, group(*members))
    assert "1 of 3 fail: V-1" in failed.value.evidence["vectors"]
    assert len(asked) == 3


# Sessions, laws, costs ----------------------------------------------------------------------


def test_each_thread_has_a_session_of_its_own(case: PolicyCase) -> None:
    pids: list[int] = []

    def ask() -> None:
        serve = case.session.serve()
        assert serve is case.session.serve()
        pids.append(serve.shim_pid)

    ask()
    other = threading.Thread(target=ask)
    other.start()
    other.join()
    assert len(set(pids)) == 2


def test_a_session_that_broke_is_replaced(case: PolicyCase) -> None:
    first = case.session.serve()
    os.kill(first.shim_pid, 9)
    with pytest.raises(ShimBroke):
        case.policy.normalize(["a"])
    assert case.policy.normalize(["a"]) == ["a"]
    assert case.session.serve() is not first


def test_a_law_stops_at_its_first_failure(case: PolicyCase) -> None:
    tried = []

    def holds(number: int) -> None:
        tried.append(number)
        if len(tried) == 3:
            raise Failure("the law", "this", "that")

    with pytest.raises(Failure):
        law(case, lambda chance: chance.randrange(1 << 32), holds)
    assert len(tried) == 3


def test_the_examples_of_a_law_are_decided_by_the_seed(case: PolicyCase) -> None:
    def tried(seed: int) -> list[int]:
        case.session.seed = seed
        found: list[int] = []
        law(case, lambda chance: chance.randrange(1 << 32), found.append)
        return found

    assert tried(7) == tried(7)
    assert tried(7) != tried(8)


def test_the_cost_of_another_process_is_its_processor_time() -> None:
    before, outside = cpu_ms(os.getpid()), time.process_time()
    sum(range(200_000))
    took, wanted = cpu_ms(os.getpid()) - before, (time.process_time() - outside) * 1000
    assert took > 0
    assert abs(took - wanted) < 20


BUSY = "import time\nwhile time.process_time() < 0.1: pass\nprint(flush=True)\ninput()"


def test_processor_time_of_children_counts_before_and_after_their_end() -> None:
    before = spent(os.getpid())
    with subprocess.Popen(
        [sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        alive = spent(os.getpid()) - before
        child.communicate(b"\n")
    ended = spent(os.getpid()) - before
    assert alive.ms >= 90
    assert alive.ended_ms == 0
    assert ended.ms >= 80
    assert ended.ended_ms >= 80


def test_answers_come_in_the_words_of_a_test(case: PolicyCase) -> None:
    assert case.policy.normalize(["a//b", "/a"]) == ["a/b", None]
    assert case.policy.match("a/**", ["a", "b"]) == [True, False]
    policy = one_profile(read=["a"], modify=[])
    assert case.policy.allowed(policy, [question("read", "a"), question("read", "/")]) == [
        True,
        None,
    ]
    assert case.policy.load({"text": "", "format": "json"}).error["kind"] == "invalid_input"


def test_a_tree_lies_on_disk_as_it_is_described(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "t")
    tree.make(
        [
            {"path": "d", "kind": "dir"},
            {"path": "d/f", "kind": "file"},
            {"path": "{outside}/f", "kind": "file"},
            {"path": "up", "kind": "link", "target": "{outside}/f"},
            {"chain": {"prefix": "d/l", "links": 3, "target": "f"}},
        ]
    )
    assert (tree.root / "d" / "l1").resolve() == tree.root / "d" / "f"
    assert (tree.root / "up").resolve() == tree.outside / "f"


# Test the oracle with the table on the page of the contract.
TABLE: list[tuple[str, list[str], list[str]]] = [
    ("src/*.c", ["src/a.c", "src/.c"], ["src/x/a.c"]),
    ("*/x", ["a/x"], ["x"]),
    ("a?c", ["abc", "aéc"], ["ac", "a/c"]),
    ("**/x", ["x", "a/x", "a/b/x"], ["ax"]),
    ("a/**/b", ["a/b", "a/x/y/b"], ["ab"]),
    ("a/**", ["a", "a/b", "a/b/c"], ["ab"]),
    ("a**", ["a", "ab", "a/b"], ["b"]),
    ("a/**b", ["a/b", "a/xb", "a/x/b"], ["a"]),
    ("**", [".", "a"], []),
    (".", ["."], ["a"]),
    ("**/*", ["a", "a/b"], ["."]),
]


@pytest.mark.parametrize(("glob", "yes", "no"), TABLE, ids=[row[0] for row in TABLE])
def test_the_oracle_matches_as_the_contract_says(glob: str, yes: list[str], no: list[str]) -> None:
    assert [path for path in yes if not oracle.matches(glob, path)] == []
    assert [path for path in no if oracle.matches(glob, path)] == []


def test_the_oracle_decides_inside_an_exception_by_the_profile() -> None:
    denies = ["d/**", "!d/c/**"]
    assert oracle.decide(["**"], denies, "d/c/x") == oracle.Decision(True, "**")
    assert oracle.decide(["**"], denies, "d/x") == oracle.Decision(False, "d/**")
    assert oracle.decide(["**", "!d/c/x"], denies, "d/c/x") == oracle.Decision(False, "d/c/x")
    assert oracle.decide(["a"], [], "b") == oracle.Decision(False, "<no matching rule>")
    assert oracle.decide(["!a"], [], "b") == oracle.Decision(False, "[]")


# Decisions of many rules --------------------------------------------------------------------


class Matcher:
    """A replacement for the client of a shim, for a shim that reads one glob wrongly."""

    def __init__(self, by_glob: bool, by_check: bool) -> None:
        self.by_glob, self.by_check = by_glob, by_check

    def match(self, pattern: str, paths: list[str]) -> list[bool]:
        return [self.by_glob for _ in paths]

    def allowed(self, policy: Any, checks: Any) -> list[bool]:
        return [self.by_check for _ in checks]


@pytest.mark.parametrize(
    ("by_glob", "by_check", "ends"),
    [
        (True, True, Failure),
        (False, True, Failure),
        (True, False, Failure),
        (False, False, Blocked),
    ],
)
def test_a_wrong_decision_counts_unless_glob_and_check_read_the_rule_wrongly(
    by_glob: bool, by_check: bool, ends: type[Exception]
) -> None:
    """The shim has allowed the path `a`, although the rule `a` denies it."""
    shim = SimpleNamespace(policy=Matcher(by_glob, by_check), capabilities=CAPABILITIES)
    items: Any = [{"allowed": True, "matched_rule": "**"}]
    with pytest.raises(ends):
        judge_decisions(cast(PolicyCase, shim), items, {"a": (False, "a")}, 2)
