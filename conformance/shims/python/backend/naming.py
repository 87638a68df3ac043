"""Find the paths that a rule names, and make the report of a rule that is not enforced."""

from __future__ import annotations

import os

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
