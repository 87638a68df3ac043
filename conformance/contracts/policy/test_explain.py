"""POLICY-EXPLAIN: why an answer is what it is."""

from __future__ import annotations

from boxspec.api import Box, expect, requires
from contracts.policy.api import Group, judge, oracle, policy, question, vectors


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
RULES = {"read": ["a", "b", "!c"], "modify": ["a"]}
DENIES = {"read": ["x", "y"], "modify": ["x", "y", "s/**", "!s/c", "z"]}
# A named profile: what is synthesised is the matter of PROFILE.
CHECKS = [
    question(op, path)
    for op in ("read", "modify")
    for path in ("a", "b", "c", "x", "z", "s/c", "elsewhere")
]


def entry(deny: str) -> object:
    return {"except": deny[1:]} if deny.startswith("!") else f"!{deny}"


@requires("POLICY-EXPLAIN-01")
def test_explain_lists_every_entry_and_decides_as_check_must(box: Box) -> None:
    """Against the oracle: that resolve and check are right is the matter of other topics."""
    for check, item in zip(CHECKS, box.policy.explain(POLICY, CHECKS), strict=True):
        op, path = check["op"], check["path"]
        rules = [each["rule"] for each in item["entries"]]
        listed = [*RULES[op], *(entry(deny) for deny in DENIES[op])]
        expect(f"the entries of {check}", rules, listed)
        wanted = oracle.decide(RULES[op], DENIES[op], path)
        told = (item["allowed"], item["path"], item["matched_rule"])
        expect(f"the decision of {check}", told, (wanted.allowed, path, wanted.matched_rule))


@requires("POLICY-EXPLAIN-04")
def test_at_most_one_entry_decides_and_matched_rule_names_it(box: Box) -> None:
    for check, item in zip(CHECKS, box.policy.explain(POLICY, CHECKS), strict=True):
        deciding = [each for each in item["entries"] if each["deciding"]]
        # Inside an exception the profile's own last match decides, if there is one.
        nothing = item["matched_rule"] in ("[]", "<no matching rule>")
        expect(f"deciding entries of {check}", len(deciding), int(not nothing), {"answer": item})
        for each in deciding:
            body = str(each["rule"]).removeprefix("!")
            expect(f"the deciding entry of {check}", body, item["matched_rule"], {"answer": item})
