"""Make different spellings of one rule. Rules must be compared by their normal forms."""

from __future__ import annotations


def rules(body: str) -> list[str]:
    """Return spellings of a rule without `!`. The first one is the given spelling."""
    made = [
        body,
        f"./{body}",
        f".//././{body}",
        f"{body}/",
        f"{body}/./",
        f" {body}\t",
        body.replace("/", "//"),
        body.replace("/", "/./"),
        body.replace("/", "\\"),
        f".\\{body}\\",
    ]
    return list(dict.fromkeys(made))


def pairs(one: str, other: str) -> list[tuple[str, str]]:
    """Return all pairs of a spelling of one rule and a spelling of the other."""
    return [(left, right) for left in rules(one) for right in rules(other)]


def few_pairs(one: str, other: str) -> list[tuple[str, str]]:
    """Return pairs in which each spelling of both rules occurs once.

    The result is for tests that need a request for each pair.
    """
    left, right = rules(one), rules(other)
    return [(left[at % len(left)], right[(at + 1) % len(right)]) for at in range(len(left) + 2)]
