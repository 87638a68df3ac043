"""A policy in the form that a backend needs.

It gives the rules that deny, and the paths of a workspace that these rules deny.
"""

from __future__ import annotations

import backend.naming as naming
import policy.decide as decide
import policy.merge as merge
from policy.ops import take_texts
from policy.spelling import Refused
from reader import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kinds import Object
    from policy.load import Rule


class Rules:
    def __init__(self, resolved: decide.Resolved, deny_read: list[Rule], deny: list[Rule]) -> None:
        self.resolved = resolved
        self.deny_read = deny_read
        self.deny_modify = deny

    def denied(self, op: str, path: str) -> bool:
        return self.why_denied(op, path) is not None

    def why_denied(self, op: str, path: str) -> str | None:
        """Return the rule that denies the path, or None."""
        found = self.decision(op, path)
        return None if found.allowed else found.matched_rule

    def denying(self, op: str, path: str) -> str | None:
        """Return the rule that denies the path.

        Return None if the path is allowed, or if no rule matches it.
        """
        found = self.decision(op, path)
        listed = self.deny_read if op == "read" else self.deny_modify
        by_rule = any(rule.body == found.matched_rule for rule in listed)
        return found.matched_rule if by_rule and not found.allowed else None

    def decision(self, op: str, path: str) -> decide.Decision:
        """Decide about a path of the workspace, which must be in normal form.

        The path is not checked like the path of a request: a file may have a name that a request
        may not contain, and this must not end the session.
        """
        return decide.decide(self.resolved.entries(op), path, False)

    def exceptions(self) -> list[Rule]:
        return [entry.rule for entry in self.resolved.modify if entry.sign == "except"]

    @property
    def grants(self) -> list[str]:
        """Return the rules that permit modifying."""
        return [entry.rule.body for entry in self.resolved.modify if entry.sign == "+"]

    def wild_grants(self) -> list[Rule]:
        """Return the rules that permit modifying paths which they do not name exactly."""
        permitting = (entry.rule for entry in self.resolved.modify if entry.sign == "+")
        return [each for each in permitting if each.body != "**" and naming.is_wild(each)]


def rules_of(value: Object, pointer: str) -> Rules:
    inner = Reader(value, pointer)
    texts = take_texts(inner)
    name = inner.take("fs_profile", str)
    inner.done()
    policy = merge.load(*texts).policy
    try:
        resolved = decide.Resolved(policy, name)
    except Refused as why:
        inner.wrong("fs_profile", str(why))
    deny_read = [*policy.deny_read, *negated(resolved.read)]
    deny_modify = [*policy.deny_modify, *negated(resolved.modify)]
    return Rules(resolved, deny_read, deny_modify)


def negated(entries: Sequence[decide.Entry]) -> list[Rule]:
    """Return the negated rules of a profile. They are not in the deny lists of the policy."""
    return [entry.rule for entry in decide.of_profile(entries) if entry.sign == "-"]
