"""Turn the rules of a policy into existing paths, because products accept paths.

A product gets the paths that the rules deny at the start of a session. A rule that also denies
later names is reported as not enforced, and its aspect is partial.
"""

from __future__ import annotations

import os

import backend.naming as naming
import backend.tree as tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from backend.claims import Claims
    from backend.rules import Rules
    from policy.load import Rule

SPECIAL = "the product gives a character of this path another meaning: "
LATER = "the product gets the paths that exist at the start"
ASPECTS = {"modify": "fs-write", "read": "fs-read"}


class Denied:
    """The paths of a workspace that a policy denies.

    write, read: absolute paths that may not be changed or read. If a folder is listed, the paths
        below it are not.
    writable: absolute paths of folders and files that may be changed; None if all may be changed.
    special: characters that no path may have (see Adapter). Such a path is left out, and its rule
        is reported.
    """

    def __init__(self, root: str, rules: Rules, special: str = "") -> None:
        self.root, self.rules, self.special = root, rules, special
        self._left_out: list[tuple[str, str]] = []
        paths = [os.fsdecode(each) for each in sorted(tree.entries(os.fsencode(root)))]
        plain = [each for each in paths if not os.path.islink(os.path.join(root, each))]
        self.write = self._denied("modify", plain)
        self.read = self._denied("read", plain)
        self.writable = None if "**" in rules.grants else [*self._granted()]

    def _denied(self, op: str, paths: list[str]) -> list[str]:
        found: list[str] = []
        for each in paths:
            path = os.path.join(self.root, each)
            covered = any(path.startswith(f"{above}/") for above in found)
            if not covered and self.rules.denying(op, each) is not None:
                found.append(path)
        odd = [path for path in found if any(each in path for each in self.special)]
        self._left_out += [(op, path) for path in odd]
        return [path for path in found if path not in odd]

    def _granted(self) -> Iterator[str]:
        for body in self.rules.grants:
            path = os.path.join(self.root, body.removesuffix("/**"))
            # A path through a link may lead outside of the workspace.
            if os.path.realpath(path) == path and os.path.exists(path):
                yield path

    def report(self, claims: Claims, profile: str) -> None:
        """Lower the claims if rules are about missing paths, links or paths that are left out."""
        for op, path in self._left_out:
            name = os.path.relpath(path, self.root)
            denying = self.rules.denying(op, name)
            for each in (rule for of, rule in denials(self.rules, profile) if of == op):
                if each.body == denying:
                    lacks(claims, ASPECTS[op], each, f"{SPECIAL}{name}")
        for op, rule in denials(self.rules, profile):
            path = os.path.join(self.root, naming.plain(rule))
            if naming.is_wild(rule):
                continue
            if not os.path.lexists(path):
                lacks(claims, ASPECTS[op], rule, f"it is missing: {LATER}")
            elif os.path.realpath(path) != path:
                lacks(claims, ASPECTS[op], rule, "it is a link, or lies behind one")


def denials(rules: Rules, profile: str) -> Iterator[tuple[str, Rule]]:
    """Yield the rules that deny, each with the operation that it denies."""
    yield from (("read", rule) for rule in rules.deny_read)
    if profile != "read-only":
        yield from (("modify", rule) for rule in rules.deny_modify)


def lacks(claims: Claims, aspect: str, rule: Rule, why: str) -> None:
    """Report a rule that is not enforced."""
    entry = naming.unenforced(rule, why)
    if entry not in claims.not_enforced:
        claims.not_enforced.append(entry)
    claims.lacks(aspect, f"the rule {rule.body} does not hold: {why}")


def claim(claims: Claims, rules: Rules, profile: str, takes: frozenset[str]) -> None:
    """Add the claims about rules that are known before a session.

    takes: the operations that the product can deny for single paths.
    """
    if rules.deny_read and "read" in takes:
        claims.fully("fs-read")
    for op, rule in denials(rules, profile):
        if op not in takes:
            lacks(claims, ASPECTS[op], rule, "its documents name no way to deny a path")
        elif naming.is_wild(rule):
            lacks(claims, ASPECTS[op], rule, LATER)
    for rule in (entry.rule for entry in rules.resolved.modify if entry.sign == "except"):
        lacks(claims, "fs-write", rule, "an exception inside a denied path is not passed on")
    for rule in (entry.rule for entry in rules.resolved.modify if entry.sign == "+"):
        if rule.body != "**" and naming.is_wild(rule):
            claims.not_enforced.append(naming.unenforced(rule, "the rule grants nothing"))
