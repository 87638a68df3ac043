"""POLICY-CHECK: the decision of a list of rules about a path."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from boxspec.api import NotApplicable, expect, law, requires
from contracts.policy.api import (
    Group,
    Policy,
    both_ways,
    every,
    judge,
    one_profile,
    oracle,
    policy,
    question,
    questions,
    same_both_ways,
    vectors,
)
from contracts.policy.client import PolicyCase
from contracts.shared.documents import Spec


@vectors("POLICY-CHECK")
def test_the_vectors_are_answered(case: PolicyCase, group: Group) -> None:
    judge(case, group)


# Rules are literal or `**`, because another topic tests globs. No rule of a profile equals a deny,
# because a policy with such a rule is refused.
RULES = ["**", "a", "b", "a/x", "a/y", "!a", "!b", "!a/x", "!a/y", "!**"]
DENIES = ["c", "b/x", "b/y", "a/z"]
PATHS = ["a", "b", "c", "a/x", "a/y", "a/z", "b/x", "b/y", "c/x", "elsewhere"]


@dataclass
class Lists:
    """The read list of a profile, and the denies that are applied after it."""

    read: list[str] = field(default_factory=list)
    denies: list[str] = field(default_factory=list)

    def allowed(self, case: PolicyCase) -> dict[str, bool | None]:
        policy = one_profile(self.read, [], self.denies, self.denies)
        return dict(zip(PATHS, case.policy.allowed(policy, questions("read", PATHS)), strict=True))


def lists(chance: random.Random) -> tuple[Lists, random.Random]:
    read = chance.choices(RULES, k=chance.randint(1, 6))
    denies = chance.choices(DENIES, k=chance.randint(0, 2))
    return Lists(read, denies), chance


def put(chance: random.Random, rule: str, into: list[str]) -> list[str]:
    at = chance.randint(0, len(into))
    return [*into[:at], rule, *into[at:]]


def grew(before: dict[str, bool | None], after: dict[str, bool | None]) -> list[str]:
    """Return the paths that only the second of two answers allows."""
    return [path for path in PATHS if after[path] and not before[path]]


@requires("POLICY-CHECK-09")
def test_a_further_deny_never_allows_more(case: PolicyCase) -> None:
    def holds(example: tuple[Lists, random.Random]) -> None:
        given, chance = example
        before = given.allowed(case)
        for more in (
            Lists(given.read, put(chance, chance.choice(DENIES), given.denies)),
            Lists(put(chance, chance.choice(RULES[5:]), given.read), given.denies),
        ):
            now = grew(before, more.allowed(case))
            expect(
                "paths allowed since a deny was added", now, [], {"before": given, "after": more}
            )

    law(case, lists, holds)


@requires("POLICY-CHECK-09")
def test_a_further_allow_never_denies_more(case: PolicyCase) -> None:
    def holds(example: tuple[Lists, random.Random]) -> None:
        given, chance = example
        more = Lists(put(chance, chance.choice(RULES[:5]), given.read), given.denies)
        lost = grew(more.allowed(case), given.allowed(case))
        expect("paths denied since an allow was added", lost, [], {"before": given, "after": more})

    law(case, lists, holds)


@requires("POLICY-CHECK-09")
def test_a_repeated_rule_changes_nothing(case: PolicyCase) -> None:
    def holds(example: tuple[Lists, random.Random]) -> None:
        given, chance = example
        rule = chance.choice(["a", *given.read])
        at = given.read.index(rule) if rule in given.read else None
        if at is None:
            return
        more = Lists([*given.read[:at], rule, *given.read[at:]], given.denies)
        before, after = given.allowed(case), more.allowed(case)
        expect(
            "decisions with and without the additional rule",
            after,
            before,
            {"before": given, "after": more},
        )

    law(case, lists, holds)


@requires("POLICY-CHECK-01")
def test_lists_decide_as_the_oracle(case: PolicyCase) -> None:
    def holds(example: tuple[Lists, random.Random]) -> None:
        given, _ = example
        wanted = {path: oracle.decide(given.read, given.denies, path).allowed for path in PATHS}
        expect("paths that may be read", given.allowed(case), wanted, {"lists": given})

    law(case, lists, holds, examples=40)


@requires("POLICY-CHECK-02")
def test_no_list_of_a_profile_allows_a_globally_denied_path(case: PolicyCase) -> None:
    # `k` is denied globally. If the engine applied the profile's rule after the deny, each of these
    # rules would allow `k`.
    rules = ["**", "./**", "k/**", "**/k", "*", "?", "k*", "!**"]
    chance = random.Random(case.session.seed)
    for _ in range(12):
        chosen = [chance.choice(rules) for _ in range(chance.randint(1, 6))]
        policy = one_profile(
            read=["**", *chosen], modify=chosen, deny_read=["k"], deny_modify=["k"]
        )
        checks = [question("read", "k"), question("modify", "k")]
        expect(
            "whether `k` may be read and modified",
            case.policy.allowed(policy, checks),
            [False, False],
        )


@requires("POLICY-CHECK-07")
def test_the_checks_of_a_batch_do_not_disturb_each_other(case: PolicyCase) -> None:
    policy = one_profile(read=["a", "b"], modify=["b"])
    checks = [
        question("read", "a"),
        question("read", "/a"),
        question("modify", "a"),
        question("modify", ""),
        question("modify", "b", "nobody"),
        question("modify", "b"),
        question("read", b"\xff"),
        question("read", "a"),
    ]
    wanted = [True, None, False, None, None, True, None, True]
    expect("the decisions, None for an error", case.policy.allowed(policy, checks), wanted)
    chance = random.Random(case.session.seed)
    order = [chance.randrange(len(checks)) for _ in range(200)]
    answers = case.policy.allowed(policy, [checks[at] for at in order])
    expect("decisions of the checks in another order", answers, [wanted[at] for at in order])


# Different spellings of paths. A shim may normalise some of them wrongly, so its answers are only
# compared with each other.
SPELLINGS = ["a", "a/", "./a", "a//x", "a/./x", "a/x/", ".//b", "c/.", "./c", "/a", "a/..", "~", ""]


@requires("POLICY-CHECK-08", capability="path")
def test_a_path_is_answered_as_its_normal_form_is(case: PolicyCase) -> None:
    policy = one_profile(read=["**", "!b", "!a/x"], modify=[], deny_read=["a", "c"])
    normal = case.policy.normalize(SPELLINGS)
    items = case.policy.check(policy, questions("read", SPELLINGS))
    normal_paths = [path or "" for path in normal]
    again = case.policy.check(policy, questions("read", normal_paths))
    for spelling, path, item, other in zip(SPELLINGS, normal, items, again, strict=True):
        if path is None:
            expect(
                f"whether {spelling!r} is refused, as path.normalize says", "error" in item, True
            )
        else:
            expect(f"the answer to {spelling!r}, which is {path!r}", item, other)


KINDS = ("normalize", "glob", "load", "resolve", "check", "explain", "audit")
SHARE = 1


@requires("POLICY-CHECK-10")
@pytest.mark.parametrize("kind", KINDS)
def test_serve_and_run_give_the_same_answers(case: PolicyCase, kind: str) -> None:
    """Compare serve and run for some vectors of each kind. The seed selects the vectors."""
    askable = [
        vector
        for vector in every().values()
        # Vectors about limits are left out, because they are large and take long.
        if vector.kind.startswith(kind)
        and vector.capabilities <= case.capabilities
        and vector.small
    ]
    if not askable:
        raise NotApplicable(f"the shim declares no capability that {kind} needs")
    for vector in random.Random(case.session.seed).sample(askable, min(SHARE, len(askable))):
        both_ways(case, vector)


@requires("POLICY-CHECK-10")
@pytest.mark.parametrize("op", ["check", "explain", "audit"])
def test_serve_and_run_give_the_same_answers_of_each_kind(case: PolicyCase, op: str) -> None:
    """Compare serve and run for each kind of decision.

    The paths are allowed, denied by the profile, denied globally, in an exception, or unmatched.
    """
    if op != "check" and f"policy.{op}" not in case.capabilities:
        raise NotApplicable.without(f"policy.{op}")
    policy = one_profile(["a", "d/**", "!b"], ["d/**"], ["x"], ["x", "d/e", "d/c/**", "!d/c/k"])
    checks = [
        question(kind, path, profile)
        for profile in ("p", None, "nobody")
        for kind in ("read", "modify")
        for path in ("a", "b", "x", "d/k", "d/e", "d/c/k", "elsewhere", "a/", "/a", "..", b"\xff")
    ]
    same_both_ways(case, {"op": f"policy.{op}", "policy": policy, "checks": checks})
    empty = one_profile([], [], ["x"], ["x"])
    same_both_ways(case, {"op": f"policy.{op}", "policy": empty, "checks": checks})


# Separators that a cache key may contain. If an engine joined rule and path by one of these, two
# different pairs would have the same key.
JOINS = ["", " ", "\t", "\n", ":", "|", ",", "=", "\x01", "\x1f", "!"]


@requires("POLICY-CHECK-10")
@pytest.mark.parametrize("join", JOINS, ids=[ascii(each) for each in JOINS])
@pytest.mark.parametrize("begin", ["yes", "no"])
def test_an_earlier_question_changes_no_answer(case: PolicyCase, join: str, begin: str) -> None:
    for head in ("zz*", "**"):
        pairs = {"yes": (head, f"zz{join}y"), "no": (f"{head}{join}zz", "y")}
        for name in (begin, *pairs, begin):
            rule, path = pairs[name]
            given = case.policy.allowed(one_profile([rule], []), [question("read", path)])
            expect(f"whether {rule!r} allows {path!r}", given, [name == "yes"])
            expect(f"whether {rule!r} matches {path!r}", case.policy.match(rule, [path]), given)


# Two files that allow reading, and the part in which two requests differ. The answer to an earlier
# request of the session must not be used for a later request that differs only in this part.
OPEN = {"fsProfiles": {"p": {"read": ["**"]}, "q": {"read": ["a"]}}}
SPECS: dict[str, tuple[Spec, Spec | None]] = {
    "alone": (OPEN, None),
    "with a workspace": (OPEN, {"denyRead": ["k"]}),
    "with another workspace": (OPEN, {"denyRead": ["a"]}),
    "with another file": ({**OPEN, "denyRead": ["a", "k"]}, {"denyRead": ["k"]}),
}
ASKED = [question("read", path, profile) for profile in "pq" for path in "ak"]


@requires("POLICY-CHECK-10")
@pytest.mark.parametrize("op", ["load", "resolve", "check", "explain", "audit"])
def test_an_earlier_request_changes_no_answer(case: PolicyCase, op: str) -> None:
    if op not in ("resolve", "check") and f"policy.{op}" not in case.capabilities:
        raise NotApplicable.without(f"policy.{op}")
    for names in (SPECS, reversed(SPECS)):
        for name in names:
            given = policy(*SPECS[name])
            same_both_ways(case, asked_of(f"policy.{op}", given), name)


def asked_of(op: str, given: Policy) -> dict[str, Any]:
    if op == "policy.load":
        return {"op": op, **given}
    if op == "policy.resolve":
        return {"op": op, "policy": given, "profile": "p"}
    return {"op": op, "policy": given, "checks": ASKED}


@requires("POLICY-CHECK-05", needs=["POLICY-RULE-01"])
@pytest.mark.parametrize("own", [True, False], ids=["own rule", "global deny"])
def test_a_name_with_an_exclamation_mark_is_reported_as_it_is_written(
    case: PolicyCase, own: bool
) -> None:
    """`!x` as matched_rule would be another rule than `./!x`."""
    denied = {"deny_read": ["./!x"]} if not own else {}
    rules = ["./!y", "!./!x"] if own else ["./!y"]
    items = case.policy.check(one_profile(rules, [], **denied), questions("read", ["!x", "!y"]))
    got = [(item.get("allowed"), item.get("matched_rule")) for item in items]
    expect("decisions and their rules", got, [(False, "./!x"), (True, "./!y")])
