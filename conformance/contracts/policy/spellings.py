"""Spellings of one rule: who compares two rules compares their normal forms."""

from __future__ import annotations


def rules(body: str) -> list[str]:
    """Other ways to write a rule without a `!`, itself first."""
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
    """Each of one with each of the other."""
    return [(left, right) for left in rules(one) for right in rules(other)]


def few_pairs(one: str, other: str) -> list[tuple[str, str]]:
    """Each spelling on each side once, against another one: where each pair is a question."""
    left, right = rules(one), rules(other)
    return [(left[at % len(left)], right[(at + 1) % len(right)]) for at in range(len(left) + 2)]
