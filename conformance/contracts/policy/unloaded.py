"""Send policies that cannot be loaded to other operations, which must refuse them too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from boxspec.judge.expect import shown
from boxspec.judge.requirements import load
from boxspec.judge.verdict import Failure, NotApplicable, Verdict
from contracts.policy.contract import CONTRACT
from contracts.policy.judging import each_is_right
from contracts.policy.kinds import refused
from contracts.policy.vectors import Vector, every, policy_in
from contracts.shared.documents import one_profile, policy

if TYPE_CHECKING:
    from contracts.policy.client import PolicyCase


def refuses_policies(case: PolicyCase, op: str, fields: Mapping[str, Any], profile: str) -> None:
    """Fail if `op` accepts a policy that breaks a requirement of this profile."""
    needed = CONTRACT.operations[op]
    if needed not in case.capabilities:
        raise NotApplicable.without(needed)
    answer = case.policy.ask(op, policy=one_profile(["a"], ["a"]), **fields)
    if not answer.ok:
        what = f"that {op} refuses what does not load is proved by what does"
        raise Failure(what, "a result", shown(answer.raw), verdict=Verdict.UNPROVEN)

    def ask(case: PolicyCase, vector: Vector) -> None:
        policy = policy_in(vector.fields)
        try:
            refused(f"the policy of {op}", case.policy.ask(op, policy=policy, **fields).raw or {})
        except Failure:
            asked = case.asked
            # If the shim loads this policy too, the requirements about loading report this.
            if "policy.load" in case.capabilities and case.policy.load(policy).ok:
                return
            case.asked = asked
            raise

    each_is_right(case, [each for each in every().values() if _is_asked(case, each, profile)], ask)


def refused_as_workspaces(case: PolicyCase, profile: str) -> None:
    """Load each file that breaks a requirement of this profile as the file of a workspace.

    Fail if it is accepted, or if no problem is in the file of the workspace.
    """
    base = policy({"denyRead": ["k/**"], "denyModify": ["k/**"]})
    if not case.policy.load({**base, "workspace": policy({})}).ok:
        raise Failure(
            "a merge of two valid files", "a result", "an error", verdict=Verdict.UNPROVEN
        )

    def ask(case: PolicyCase, vector: Vector) -> None:
        given = policy_in(vector.fields)
        answer = case.policy.load({**base, "workspace": given})
        asked = case.asked
        if answer.ok and case.policy.load(given).ok:
            # The requirements about loading report this.
            return
        case.asked = asked
        refused("the file of a workspace", answer.raw or {})
        files = {each["file"] for each in answer.error["problems"]}
        if files != {"workspace"}:
            raise Failure("files with a problem", "workspace", ", ".join(sorted(files)))

    alone = [each for each in every().values() if "workspace" not in each.fields]
    each_is_right(case, [each for each in alone if _is_asked(case, each, profile)], ask)


def _is_asked(case: PolicyCase, vector: Vector, profile: str) -> bool:
    return (
        vector.kind == "load"
        and not vector.fields["loads"]
        # The requirements about limits test large policies.
        and vector.small
        and load()[vector.requirements[0]].profile == profile
        and vector.capabilities - {"policy.load"} <= case.capabilities
    )
