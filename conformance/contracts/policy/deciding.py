"""Many paths against the denies of one policy, in one question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from boxspec.judge.expect import expect
from boxspec.target.case import Box
from contracts.policy.asking import questions
from contracts.shared.documents import one_profile

# Time is the matter of COST.
WITHIN_S = 60


def decided(
    box: Box, denies: Sequence[str], wanted: Mapping[str, str], case: str | None = None
) -> None:
    """`wanted`: for each path the deny that decides, or `**`, which allows."""
    policy = one_profile(["**"], ["**"], denies, denies)
    items = box.policy.check(policy, questions("read", wanted), case, WITHIN_S)
    got = {
        path: (item.get("allowed"), item.get("matched_rule"))
        for path, item in zip(wanted, items, strict=True)
    }
    told = {path: (rule == "**", rule) for path, rule in wanted.items()}
    wrong = [path for path in wanted if got[path] != told[path]]
    path = min(wrong, key=len, default=None)
    expect(
        f"whether {path!r} may be read, and by which rule",
        path and got[path],
        path and told[path],
        {"rules": len(denies), "asked": len(wanted), "wrong": len(wrong)},
    )
