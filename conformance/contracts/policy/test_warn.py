"""POLICY-WARN: policies that load with a warning."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from boxspec.api import expect, one_of, requires
from contracts.policy.api import Group, judge, offsets, policy, spellings, vectors
from contracts.policy.client import PolicyCase


@vectors("POLICY-WARN")
def test_the_vectors_are_answered(case: PolicyCase, group: Group) -> None:
    judge(case, group)


def warned(case: PolicyCase, spec: Mapping[str, object], code: str) -> list[str]:
    """Return the pointers of the warnings with this code."""
    found = case.policy.load(policy(spec)).result["warnings"]
    return sorted(each["pointer"] for each in found if each["code"] == code)


def profiles(lists: list[tuple[list[str], list[str]]]) -> dict[str, object]:
    return {str(at): {"read": read, "modify": modify} for at, (read, modify) in enumerate(lists)}


@requires("POLICY-WARN-03", needs=["POLICY-RULE-01", "POLICY-RULE-02"])
def test_rules_under_a_deny_give_a_warning_however_both_are_spelled(case: PolicyCase) -> None:
    found = spellings.pairs("a/b/c", "a/b/**")
    spec = {
        "denyRead": [deny for _, deny in found],
        "denyModify": ["**"],
        "fsProfiles": profiles([(["x", rule], []) for rule, _ in found]),
    }
    wanted = sorted(f"/spec/fsProfiles/{at}/read/1" for at in range(len(found)))
    expect("rules with the warning `under-deny`", warned(case, spec, "under-deny"), wanted)


@requires("POLICY-WARN-03", "POLICY-WARN-05")
@pytest.mark.parametrize("pad", offsets.PADS)
def test_rules_that_a_deny_covers_give_a_warning_at_every_length(
    case: PolicyCase, pad: Callable[[int], str]
) -> None:
    names = [f"{pad(length)}{length}" for length in offsets.EVERY]
    rules = [f"{name}{below}" for name in names for below in ("/k", "k")]
    spec = {
        "denyRead": rules,
        "denyModify": [f"{name}/**" for name in names],
        "fsProfiles": {"p": {"read": ["**"], "modify": [f"{name}/k/x" for name in names]}},
    }
    covered = sorted(f"/spec/fsProfiles/p/modify/{at}" for at in range(len(names)))
    expect("rules with the warning `under-deny`", warned(case, spec, "under-deny"), covered)
    writable = sorted(f"/spec/denyRead/{at}" for at in range(1, len(rules), 2))
    got = warned(case, spec, "read-deny-without-modify-deny")
    expect("denies that no denyModify covers", got, writable)


# Characters that sort before the slash. If an engine sorts names by bytes, a name with one of these
# characters comes between a directory and its files.
BEFORE_THE_SEPARATOR = " !#$%&'()+,-."
# The first two rules contain an exception, the last one is an exception, and the others lie
# completely inside the deny.
BELOW = ("/**", "/k/**", "/l/**", "/m", "/k/y")


@requires("POLICY-WARN-07", needs=["POLICY-VALID-05", "POLICY-WARN-03"])
@pytest.mark.parametrize("turn", range(0, 2 * len(BEFORE_THE_SEPARATOR), 5))
def test_an_exception_below_a_rule_is_found_among_similar_names(
    case: PolicyCase, turn: int
) -> None:
    names = ["d", *(f"d{mark}z" for mark in BEFORE_THE_SEPARATOR)]
    exceptions = [f"!top/{name}/{below}/y" for name in names for below in ("k", "m")]
    rules = [f"top/{name}{below}" for name in names for below in BELOW]
    spec = {
        "denyModify": ["top/**", *exceptions[turn:], *exceptions[:turn]],
        "fsProfiles": {"p": {"read": ["**"], "modify": rules}},
    }
    nothing_left = [at for at, rule in enumerate(rules) if rule.endswith(("/l/**", "/m"))]
    wanted = sorted(f"/spec/fsProfiles/p/modify/{at}" for at in nothing_left)
    expect("modify rules whose paths are all denied", warned(case, spec, "under-deny"), wanted)


@requires("POLICY-WARN-07", needs=["POLICY-VALID-05", "POLICY-WARN-03"])
def test_an_exception_below_another_one_is_found(case: PolicyCase) -> None:
    """Warn about an exception below another exception. In sorted order, these two exceptions are
    adjacent."""
    names = ["a", "b", "c/d", "e/f/g"]
    exceptions = [f"!top/{name}{below}" for name in names for below in ("", "/k", "/k/y/z")]
    rules = [f"top/{name}{below}" for name in names for below in ("/k/**", "/k/y/**", "/l/**")]
    spec = {
        "denyModify": ["top/**", *exceptions],
        "fsProfiles": {"p": {"read": ["**"], "modify": rules}},
    }
    wanted = sorted(f"/spec/fsProfiles/p/modify/{at}" for at in range(2, len(rules), 3))
    expect("modify rules whose paths are all denied", warned(case, spec, "under-deny"), wanted)


@requires("POLICY-WARN-04", needs=["POLICY-VALID-02", "POLICY-COST-02"])
def test_the_last_read_rule_that_covers_tells_whether_a_rule_can_be_read(case: PolicyCase) -> None:
    covers = ["a/**", "a/b/**", "**", "a/b/c"]
    lists, wanted = [], []
    for count in (2, 3, 4):
        for signs in itertools.product(("", "!"), repeat=count):
            for chosen in itertools.permutations(covers, count):
                if "" in signs:
                    wanted.append(signs[-1] == "!")
                    read = [sign + rule for sign, rule in zip(signs, chosen, strict=True)]
                    lists.append((read, ["a/b/c"]))
    spec = {"fsProfiles": profiles(lists)}
    got = warned(case, spec, "modify-under-negated-read")
    right = sorted(
        f"/spec/fsProfiles/{at}/modify/0"
        for at, is_unreadable in enumerate(wanted)
        if is_unreadable
    )
    expect("modify rules with the warning that their paths cannot be read", got, right)


@requires("POLICY-WARN-06", needs=["POLICY-WARN-03", "POLICY-WARN-05", "POLICY-MERGE-01"])
def test_two_files_give_the_warnings_of_their_merged_policy(case: PolicyCase) -> None:
    """Load two files. If the workspace file removes the cause of a warning, there is no warning."""
    above = {"denyRead": ["k"], "fsProfiles": {"p": {}, "q": {"read": ["lib"]}}}
    got = case.policy.load(policy(above)).result["warnings"]
    codes = sorted(each["code"] for each in got)
    expect(
        "warnings of the first policy by itself",
        codes,
        ["empty-read", "read-deny-without-modify-deny"],
    )
    merged = policy(above, {"denyModify": ["k"], "fsProfiles": {"p": {"read": ["doc"]}}})
    expect("warnings of both policies together", case.policy.load(merged).result["warnings"], [])


@requires("POLICY-WARN-03", needs=["POLICY-MERGE-02", "POLICY-MERGE-05"])
def test_a_rule_under_a_deny_of_the_other_file_gives_a_warning(case: PolicyCase) -> None:
    deny: dict[str, Any] = {"denyModify": ["s/**"]}
    rule: dict[str, Any] = {"fsProfiles": {"p": {"read": ["**"], "modify": ["s/x"]}}}
    for above, below, file in ((deny, rule, "workspace"), (rule, deny, "global")):
        found = case.policy.load(policy(above, below)).result["warnings"]
        got = [(each["code"], each["file"], each["pointer"]) for each in found]
        expect("warnings", got, [("under-deny", file, "/spec/fsProfiles/p/modify/0")])


# A file with one warning of each kind. Its spacing is irregular, so a shim cannot derive places
# from pointers.
PLACED = """{"schemaVersion": 2, "kind": "Policy", "metadata": {"name": "test"},
 "spec": {"description": "\u00e9\U0001f600",
  "denyRead": ["s/**",  "open"], "denyModify": ["s/**"],
  "fsProfiles": {"q":   {},
   "p": {"modify": ["lib/x"],
    "read": ["**",
      "./ a", "\u00e9\U0001f600", "s/x", "!lib/**"]}}}}
"""
WARNED = {
    "matches-nothing": '"./ a"',
    "empty-read": '"q"',
    "under-deny": '"s/x"',
    "modify-under-negated-read": '"lib/x"',
    "read-deny-without-modify-deny": '"open"',
}


@requires("POLICY-WARN-08", needs=[f"POLICY-WARN-0{n}" for n in range(1, 6)])
@pytest.mark.parametrize("code", WARNED)
def test_a_warning_has_the_place_of_its_rule(case: PolicyCase, code: str) -> None:
    word = WARNED[code]
    found = case.policy.load({"text": PLACED, "format": "json"}).result["warnings"]
    got = [(each["line"], each["column"]) for each in found if each["code"] == code]
    at = PLACED.index(word)
    line, column = PLACED.count("\n", 0, at) + 1, at - PLACED.rfind("\n", 0, at)
    # For a profile, the place of its name and the place of its value are both right.
    columns = [column, PLACED.index("{", at) - at + column] if word == '"q"' else [column]
    expect(f"line and column of {code}", got, one_of([[(line, each)] for each in columns]))
