"""POLICY-EXPLAIN: why an answer is what it is."""

from __future__ import annotations

from boxspec.api import Box, Group, expect, judge, oracle, policy, question, requires, vectors


@vectors("POLICY-EXPLAIN")
def test_the_vectors_are_answered(box: Box, group: Group) -> None:
    judge(box, group)


# At most one entry of a list matches a path: which one decides is the matter of CHECK.
POLICY = policy(
    {
        "denyRead": ["x", "y"],
        "denyModify": ["x", "y", "s/**", "!s/c"],
        "fsProfiles": {"p": {"read": ["a", "b", "!c"], "modify": ["a"]}},
    },
    {"denyModify": ["z"]},
)
CHECKS = [
    question(op, path, profile)
    for profile in ("p", None)
    for op in ("read", "modify")
    for path in ("a", "b", "c", "x", "z", "elsewhere")
]


# The lists of POLICY: those of a profile, and what is denied.
DENIES = {"read": ["x", "y"], "modify": ["x", "y", "s/**", "!s/c", "z"]}
RULES = {
    "p": {"read": ["a", "b", "!c"], "modify": ["a"]},
    None: {"read": ["**"], "modify": ["**"]},
}


@requires("POLICY-EXPLAIN-01")
def test_explain_decides_as_check_must(box: Box) -> None:
    """Against the oracle: that check is right is the matter of CHECK."""
    for check, item in zip(CHECKS, box.explain(POLICY, CHECKS), strict=True):
        op, path = check["op"], check["path"]
        wanted = oracle.decide(RULES[check.get("profile")][op], DENIES[op], path)
        told = (item["allowed"], item["path"], item["matched_rule"])
        expect(f"the decision of {check}", told, (wanted.allowed, path, wanted.matched_rule))


@requires("POLICY-EXPLAIN-01")
def test_explain_lists_the_resolved_list(box: Box) -> None:
    for check, item in zip(CHECKS, box.explain(POLICY, CHECKS), strict=True):
        lists = box.resolve(POLICY, check.get("profile")).result
        rules = [entry["rule"] for entry in item["entries"]]
        expect(f"the entries of {check}", rules, lists[check["op"]])


@requires("POLICY-EXPLAIN-04")
def test_at_most_one_entry_decides_and_matched_rule_names_it(box: Box) -> None:
    for check, item in zip(CHECKS, box.explain(POLICY, CHECKS), strict=True):
        deciding = [entry for entry in item["entries"] if entry["deciding"]]
        matched = any(entry["matched"] for entry in item["entries"])
        expect(f"deciding entries of {check}", len(deciding), int(matched), {"answer": item})
        for entry in deciding:
            body = entry["rule"].removeprefix("!")
            expect(f"the deciding entry of {check}", body, item["matched_rule"], {"answer": item})
