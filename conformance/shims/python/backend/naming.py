"""How a rule names paths, and the words about one that does not hold."""

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
    """The path of a rule that names one, with all below it or not."""
    return rule.body.removesuffix("/**")


def cache(root: bytes) -> bytes | None:
    """HOME/.cache as it really lies. Where the root holds its name it is granted with it, and may
    be a link that a program has made."""
    home = os.environb.get(b"HOME")
    named = os.path.join(os.path.realpath(home), b".cache") if home else b""
    if not os.path.isdir(named) or named.startswith(root + b"/"):
        return None
    return os.path.realpath(named)


def unenforced(rule: Rule, why: str) -> Object:
    return {"pointer": rule.pointer, "rule": rule.body, "why": why}
