"""POLICY-EXPLAIN: the reasons of a decision."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable

import pytest

from boxspec.api import NotApplicable, expect, requires
from contracts.policy.api import (
    Group,
    judge,
    judge_decisions,
    many_rules,
    offsets,
    one_profile,
    oracle,
    policy,
    question,
    questions,
    vectors,
)
from contracts.policy.client import PolicyCase


@vectors("POLICY-EXPLAIN")
def test_the_vectors_are_answered(case: PolicyCase, group: Group) -> None:
    judge(case, group)


# At most one entry of a list matches a path, because the topic CHECK tests which of several matches
# decides.
POLICY = policy(
    {
        "denyRead": ["x", "y"],
        "denyModify": ["x", "y", "s/**", "!s/c"],
        "fsProfiles": {"p": {"read": ["a", "b", "!c"], "modify": ["a"]}},
    },
    {"denyModify": ["z"]},
)
RULES = {"read": ["a", "b", "!c"], "modify": ["a"]}
DENIES = {"read": ["x", "y"], "modify": ["x", "y", "s/**", "!s/c", "z"]}
# The checks use a profile that the policy defines, because the topic PROFILE tests the synthesised
# one.
CHECKS = [
    question(op, path)
    for op in ("read", "modify")
    for path in ("a", "b", "c", "x", "z", "s/c", "elsewhere")
]


def entry(deny: str) -> object:
    return {"except": deny[1:]} if deny.startswith("!") else f"!{deny}"


@requires("POLICY-EXPLAIN-01")
def test_explain_lists_every_entry_and_decides_as_check_must(case: PolicyCase) -> None:
    """Compare the lists with the oracle, because other topics test `resolve` and `check`."""
    for check, item in zip(CHECKS, case.policy.explain(POLICY, CHECKS), strict=True):
        op, path = check["op"], check["path"]
        rules = [each["rule"] for each in item["entries"]]
        listed = [*RULES[op], *(entry(deny) for deny in DENIES[op])]
        expect(f"the entries of {check}", rules, listed)
        wanted = oracle.decide(RULES[op], DENIES[op], path)
        got = (item["allowed"], item["path"], item["matched_rule"])
        expect(f"the decision of {check}", got, (wanted.allowed, path, wanted.matched_rule))


@requires("POLICY-EXPLAIN-04")
def test_at_most_one_entry_decides_and_matched_rule_names_it(case: PolicyCase) -> None:
    for check, item in zip(CHECKS, case.policy.explain(POLICY, CHECKS), strict=True):
        deciding = [each for each in item["entries"] if each["deciding"]]
        # Inside an exception, the last matching rule of the profile itself decides. If no rule
        # matches, no entry decides.
        nothing = item["matched_rule"] in ("[]", "<no matching rule>")
        expect(f"deciding entries of {check}", len(deciding), int(not nothing), {"answer": item})
        for each in deciding:
            body = str(each["rule"]).removeprefix("!")
            expect(f"the deciding entry of {check}", body, item["matched_rule"], {"answer": item})


@requires("POLICY-EXPLAIN-01")
@pytest.mark.parametrize("letter_case", [None, "fold"])
@pytest.mark.parametrize("count", [12, 70])
def test_many_rules_of_two_files_are_explained_as_few_are(
    case: PolicyCase, count: int, letter_case: str | None
) -> None:
    if letter_case is not None and "policy.fold" not in case.capabilities:
        raise NotApplicable("the shim does not declare policy.fold")
    made = many_rules.many_rules(random.Random(case.session.seed + count), count)
    paths = made.paths if letter_case is None else [path.upper() for path in made.paths]
    items = case.policy.explain(made.policy, questions("modify", paths), letter_case)
    wanted = {path: made.decide(path, letter_case is not None) for path in paths}
    judge_decisions(case, items, wanted, count, letter_case)
    same = str if letter_case is None else oracle.fold
    entries = made.entries()
    for path, item in zip(paths, items, strict=True):
        expect(
            f"the entries that are explained for {path!r}",
            [each["rule"] for each in item["entries"]],
            [rule for rule, _ in entries],
        )
        wrong = [
            (each["rule"], each["matched"])
            for each, (_, body) in zip(item["entries"], entries, strict=True)
            if each["matched"] is not oracle.matches(same(body), same(path))
        ]
        expect(f"entries whose `matched` is wrong for {path!r}", wrong, [])


@requires("POLICY-EXPLAIN-01")
@pytest.mark.parametrize("pad", offsets.PADS)
def test_rules_of_every_length_are_reported_as_matched(
    case: PolicyCase, pad: Callable[[int], str]
) -> None:
    shapes = ["{n}{}/k", "{n}{}/s/**", "**/{}{n}?", "*{n}-{}*"]
    rules = [
        shape.replace("{n}", f"n{length}n").replace("{}", pad(length))
        for shape in shapes
        for length in offsets.NEAR
    ]
    paths = [re.sub(r"\*\*/|/\*\*|\*", "", rule).replace("?", "é") for rule in rules]
    items = case.policy.explain(one_profile(rules, []), questions("read", paths))
    wrong = [
        (rule, got)
        for rule, item in zip(rules, items, strict=True)
        if (got := [each["rule"] for each in item["entries"] if each["matched"]]) != [rule]
    ]
    expect(
        "rules, and the entries reported to match a path that only this rule matches", wrong[:3], []
    )


WIDE = [
    "x",
    "é",
    "€",
    "😀",
    "éé",
    "xé",
    "é€",
    "x😀",
    "a.é",
    "aé",
    "éb",
    "é/x",
    "x/é",
    "k/é€",
    "a\u0301",
]


@requires("POLICY-EXPLAIN-01", needs=["POLICY-GLOB-05", "POLICY-GLOB-11"])
def test_a_question_mark_is_reported_to_match_one_character(case: PolicyCase) -> None:
    """Explain rules with question marks. An engine may use other code for a single rule than for a
    list."""
    rules = [
        f"{before}{marks}{after}"
        for before in ("", "*", "**/", "**/*", "a*")
        for marks in ("?", "??", "?*?", "*?")
        for after in ("", "x", "*", "/*")
    ]
    items = case.policy.explain(one_profile(rules, []), questions("read", WIDE))
    wrong = [
        (rule, path)
        for path, item in zip(WIDE, items, strict=True)
        for rule, entry in zip(rules, item["entries"], strict=True)
        if entry["matched"] is not oracle.matches(rule, path)
    ]
    expect("rules and paths whose `matched` is wrong", wrong, [])


# Characters that an engine may take for a star beside a star.
MARKS = [chr(code) for code in range(33, 127) if chr(code) not in "*?/\\"]


@requires("POLICY-EXPLAIN-01")
def test_explain_matches_each_character_before_a_star(case: PolicyCase) -> None:
    """If one of the characters counted as a star, its rule would match several levels."""
    rules = [f"x/{mark}*/y" for mark in MARKS]
    paths = ["x/a/b/y", "x/y", *(f"x/{mark}k/y" for mark in "#*~")]
    items = case.policy.explain(one_profile(rules, []), questions("read", paths))
    met = {
        path: [each["rule"] for each in item["entries"] if each["matched"]]
        for path, item in zip(paths, items, strict=True)
    }
    wanted = {path: [rule for rule in rules if oracle.matches(rule, path)] for path in paths}
    expect("the entries that match", met, wanted)


@requires("POLICY-EXPLAIN-01")
def test_explain_matches_the_root_as_check_does(case: PolicyCase) -> None:
    rules = ["**", ".", "*", "?", "??", ".*", "*/**", "**/*", "a/**"]
    (item,) = case.policy.explain(one_profile(rules, []), [question("read", ".")])
    met = [each["rule"] for each in item["entries"] if each["matched"]]
    expect("the entries that match the root", met, ["**", "."])


@requires("POLICY-EXPLAIN-01")
def test_a_refused_check_is_an_error_at_its_position(case: PolicyCase) -> None:
    asked = [CHECKS[0], question("read", "/a"), question("read", "a", "nobody"), CHECKS[1]]
    got = ["error" if "error" in each else "answer" for each in case.policy.explain(POLICY, asked)]
    expect("the answers", got, ["answer", "error", "error", "answer"])


def _spread(spec: dict[str, object], name: str) -> str:
    """Return the text of a policy file in which each rule has a line of its own."""
    whole = {"schemaVersion": 2, "kind": "Policy", "metadata": {"name": name}, "spec": spec}
    return json.dumps(whole, indent=1)


def _lines(text: str, list_name: str, count: int) -> list[int]:
    """Return the line of each rule of a list."""
    lines = text.splitlines()
    first = next(at for at, line in enumerate(lines, 1) if f'"{list_name}": [' in line) + 1
    return list(range(first, first + count))


@requires("POLICY-EXPLAIN-03")
def test_equal_rules_have_lines_of_their_own(case: PolicyCase) -> None:
    own = {"p": {"read": ["**", "!c", "a", "!c", "a"]}}
    base = _spread({"denyRead": ["k", "x", "k"], "fsProfiles": own}, "base")
    workspace = _spread({"denyModify": ["k"], "denyRead": ["x", "k", "x"]}, "ws")
    given = {"text": base, "format": "json", "workspace": {"text": workspace, "format": "json"}}
    (item,) = case.policy.explain(given, [question("read", "a")])
    found = [(each["file"], each["line"]) for each in item["entries"]]
    wanted = [("global", line) for line in _lines(base, "read", 5) + _lines(base, "denyRead", 3)]
    wanted += [("workspace", line) for line in _lines(workspace, "denyRead", 3)]
    expect("file and line of each entry", found, wanted)
