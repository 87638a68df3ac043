"""How a rule names paths, and the words about one that does not hold."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kinds import Object
    from policy.load import Rule

WILD = "*?"


def is_wild(rule: Rule) -> bool:
    return any(letter in plain(rule) for letter in WILD)


def plain(rule: Rule) -> str:
    """The path of a rule that names one, with all below it or not."""
    return rule.body.removesuffix("/**")


def unenforced(rule: Rule, why: str) -> Object:
    return {"pointer": rule.pointer, "rule": rule.body, "why": why}
