"""Decide with a loaded policy: resolve the lists, and find the last matching rule."""

from __future__ import annotations

import policy.glob as glob
from policy.load import Profile, Rule
from policy.spelling import Refused, normal_path, printed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kinds import Object
    from policy.load import Policy

UNRESTRICTED = "unrestricted"
NOTHING_MATCHED = "<no matching rule>"
NOTHING_ALLOWED = "[]"


class Entry:
    """One rule of a resolved list.

    sign: `+` for an allow, `-` for a denial, `except` for an exception.
    """

    def __init__(self, rule: Rule, origin: str, sign: str) -> None:
        self.rule = rule
        self.origin = origin
        self.sign = sign
        self.globs: dict[bool, glob.Glob] = {}

    def matches(self, text: glob.Text, fold: bool) -> bool:
        if fold not in self.globs:
            self.globs[fold] = glob.Glob(self.rule.body, fold)
        return self.globs[fold].matches(text)

    def as_json(self) -> str | Object:
        body = named(self)
        if self.sign == "except":
            return {"except": body}
        return body if self.sign == "+" else "!" + body


class Resolved:
    """The lists that apply to a profile: its own rules, and after them the global denies."""

    def __init__(self, policy: Policy, name: str | None) -> None:
        self.name = UNRESTRICTED if name is None else name
        profile = policy.profiles.get(self.name)
        self.origin = "synthesized" if profile is None else "defined"
        if profile is None:
            profile = self.synthesize()
        self.read = [own(rule) for rule in profile.read]
        self.modify = [own(rule) for rule in profile.modify]
        self.append_denies(policy)

    def synthesize(self) -> Profile:
        if self.name != UNRESTRICTED:
            raise Refused(f"no profile is called {self.name}")
        return Profile(self.name, 0, "", None, [Rule("**", False)], [Rule("**", False)])

    def append_denies(self, policy: Policy) -> None:
        self.read += [Entry(rule, "denyRead", "-") for rule in policy.deny_read]
        self.modify += [denying(rule) for rule in policy.deny_modify]

    def entries(self, op: str) -> list[Entry]:
        return self.read if op == "read" else self.modify

    def as_json(self) -> Object:
        return {
            "profile": self.name,
            "profile_origin": self.origin,
            "read": [entry.as_json() for entry in self.read],
            "modify": [entry.as_json() for entry in self.modify],
        }


def own(rule: Rule) -> Entry:
    return Entry(rule, "profile", "-" if rule.negated else "+")


def denying(rule: Rule) -> Entry:
    return Entry(rule, "exception", "except") if rule.negated else Entry(rule, "denyModify", "-")


class Decision:
    """The answer to one check.

    deciding: the entry that matched_rule names, or None.
    """

    def __init__(
        self, path: str, allowed: bool, matched_rule: str, deciding: Entry | None = None
    ) -> None:
        self.path = path
        self.allowed = allowed
        self.matched_rule = matched_rule
        self.deciding = deciding

    def as_json(self) -> Object:
        return {"allowed": self.allowed, "path": self.path, "matched_rule": self.matched_rule}


def decide(entries: Sequence[Entry], path: str, fold: bool) -> Decision:
    """Decide about `path`, which must be in normal form."""
    deciding = last_match(entries, glob.Text(path, fold), fold)
    if deciding is None:
        return Decision(path, False, when_nothing_matched(entries))
    return Decision(path, deciding.sign == "+", named(deciding), deciding)


def last_match(entries: Sequence[Entry], text: glob.Text, fold: bool) -> Entry | None:
    for entry in reversed(entries):
        if entry.matches(text, fold):
            return inside_exception(entries, text, fold) if entry.sign == "except" else entry
    return None


def inside_exception(entries: Sequence[Entry], text: glob.Text, fold: bool) -> Entry | None:
    """Decide again with only the profile's own rules, as if there were no denies."""
    return last_match(of_profile(entries), text, fold)


def of_profile(entries: Sequence[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry.origin == "profile"]


def named(entry: Entry) -> str:
    return printed(entry.rule.body)


def when_nothing_matched(entries: Sequence[Entry]) -> str:
    if any(entry.sign == "+" for entry in entries):
        return NOTHING_MATCHED
    return NOTHING_ALLOWED


def check(resolved: Resolved, op: str, data: bytes, fold: bool) -> Decision:
    return decide(resolved.entries(op), normal_path(data), fold)


def explain(resolved: Resolved, op: str, data: bytes, fold: bool) -> Object:
    entries = resolved.entries(op)
    decision = check(resolved, op, data, fold)
    text = glob.Text(decision.path, fold)
    return decision.as_json() | {"entries": [explained(e, decision, text, fold) for e in entries]}


def explained(entry: Entry, decision: Decision, text: glob.Text, fold: bool) -> Object:
    return {
        "rule": entry.as_json(),
        "origin": entry.origin,
        "file": entry.rule.file,
        "line": entry.rule.line,
        "matched": entry.matches(text, fold),
        "deciding": entry is decision.deciding,
    }
