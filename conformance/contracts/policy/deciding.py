"""Compare the decisions of a policy that has many rules with the expected ones.

The topic GLOB tests the meaning of globs. If the shim matches a glob wrongly, both in `glob.match`
and as the only rule of a policy, then that topic blocks a wrong decision that follows from it. If
only one of the two is wrong, the decision counts here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from boxspec.judge.expect import expect
from boxspec.judge.verdict import Blocked
from contracts.policy.client import Item, questions
from contracts.shared import globs as oracle
from contracts.shared.documents import Policy, one_profile

if TYPE_CHECKING:
    from contracts.policy.client import PolicyCase

# The limit is long, because only the topic COST tests the time.
WITHIN_S = 60
# The requirement that tests globs in all combinations and sizes.
GLOBS = "POLICY-GLOB-11"
NO_RULE = ("<no matching rule>", "[]")

Decision = tuple[bool | None, str | None]


def decision_of(item: Item) -> Decision:
    return item.get("allowed"), item.get("matched_rule")


def judge_decisions(
    case: PolicyCase,
    items: Sequence[Item],
    wanted: Mapping[str, Decision],
    rules: int,
    letter_case: str | None = None,
    by_rule: bool = True,
) -> None:
    """Fail if an item differs from `wanted`, which has allowed and matched_rule for each path, in
    order.

    by_rule: True if a right decision by a wrong rule is a failure too.
    """
    got = dict(zip(wanted, map(decision_of, items), strict=True))
    judged = 2 if by_rule else 1
    others = [path for path, right in wanted.items() if got[path][:judged] != right[:judged]]
    misread = [
        path
        for path in others
        if is_read_so(case, path, wanted[path][1], got[path][1], letter_case)
    ]
    wrong = [path for path in others if path not in misread]
    path = min(wrong, key=len, default=None)
    expect(
        f"whether it is allowed{', and by which rule' if by_rule else ''}: {path!r}",
        path and got[path][:judged],
        path and wanted[path][:judged],
        {"rules": rules, "asked": len(wanted), "wrong": wrong[:20]},
    )
    if misread:
        raise Blocked([GLOBS], f"a single rule is matched wrongly, for example to {misread[0]!r}")


def is_read_so(
    case: PolicyCase, path: str, right: str | None, got: str | None, letter_case: str | None = None
) -> bool:
    """True if the shim matches one of the two globs wrongly even without other rules.

    Both `glob.match` and a check must be wrong. With `case: fold` the answer is always False,
    because these lists also test the folding.
    """
    if "glob" not in case.capabilities or letter_case == "fold":
        return False

    def misread(rule: str | None) -> bool:
        if rule is None or rule in NO_RULE:
            return False
        matches = oracle.matches(rule, path)
        if case.policy.match(rule, [path]) == [matches]:
            return False
        alone = one_profile([rule], [])
        return case.policy.allowed(alone, questions("read", [path])) != [matches]

    return misread(right) or (got != right and misread(got))


def decided(
    case: PolicyCase,
    denies: Sequence[str],
    wanted: Mapping[str, str],
    letter_case: str | None = None,
) -> None:
    """Check a list of denies.

    wanted: for each path the deny that decides, or `**` if the path is allowed.
    """
    policy = one_profile(["**"], ["**"], denies, denies)
    items = case.policy.check(policy, questions("read", wanted), letter_case, WITHIN_S)
    decisions = {path: (rule == "**", rule) for path, rule in wanted.items()}
    judge_decisions(case, items, decisions, len(denies), letter_case)


def expect_normal_forms(case: PolicyCase, paths: Sequence[bytes]) -> None:
    """Compare the normal form of each path with that of the oracle. The report shows one of the
    shortest wrong paths."""
    answers = dict(zip(paths, case.policy.normalize(paths), strict=True))
    wrong = [path for path in paths if answers[path] != oracle.normal_path(path)]
    path = min(wrong, key=len, default=b"")
    expect(
        f"normal form of {path!r}; None is a refusal",
        answers.get(path),
        oracle.normal_path(path),
        {"asked": len(paths), "wrong": wrong},
    )


def loads(case: PolicyCase, policy: Policy, wanted: bool = True) -> None:
    answer = case.policy.load(policy)
    if wanted:
        expect("whether the policy loads", answer.raw and answer.raw.get("error"), None)
    else:
        kind = None if answer.ok else answer.error.get("kind")
        expect("whether the policy is refused", kind, "invalid_input", {"policy": policy})
