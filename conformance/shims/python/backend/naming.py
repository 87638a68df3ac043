"""Find the paths that a rule names, and make the report of a rule that is not enforced."""

from __future__ import annotations

import os

import policy.glob as glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kinds import Object
    from policy.load import Rule

WILD = "*?"


def is_wild(rule: Rule) -> bool:
    return any(letter in plain(rule) for letter in WILD)


def plain(rule: Rule) -> str:
    """Return the path of a rule, without `/**` at its end."""
    return rule.body.removesuffix("/**")


def unenforced(rule: Rule, why: str) -> Object:
    return {"pointer": rule.pointer, "rule": rule.body, "why": why}


def below(root: bytes, path: bytes) -> str:
    """Return the path relative to the root, as rules name it."""
    return os.fsdecode(os.path.relpath(path, root))


def reaches_below(rule: Rule, name: str) -> bool:
    """True if words of the rule other than `**` match the name, and further words follow. The rule
    then matches paths below the name."""
    words = rule.body.split("/")
    heads = (words[:n] for n in range(1, len(words)))
    return any(glob.matches("/".join(head), name) for head in heads if {*head} != {"**"})
