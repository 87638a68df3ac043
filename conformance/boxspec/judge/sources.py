"""Describe the sources of requirements: documents, decisions, known mistakes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

import yaml

from boxspec.judge.requirements import Requirement
from boxspec.places import CONTRACTS

FILE = CONTRACTS / "sources.yaml"
# A source that is another requirement, for example `EXEC-KILL-07, for modules`.
OTHER = re.compile(r"[A-Z]+-[A-Z]+-\d+\b")


@cache
def known() -> Mapping[str, str]:
    """Return the description of each source without an address, by its first words."""
    found: Mapping[str, str] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return found


def meanings(each: Requirement) -> dict[str, str]:
    """Return the description of each source that has no address, by its first words.

    Sources that are other requirements have no description: `explain` shows them by their ids.
    """
    sources = [part.strip() for part in each.source.split(";")]
    return {
        name: text for name, text in known().items() if any(_begins(part, name) for part in sources)
    }


def unexplained(each: Requirement) -> list[str]:
    """Return the sources of a requirement that have neither an address nor a description."""
    names = [*known(), *each.links]
    return [
        part
        for part in (part.strip() for part in each.source.split(";"))
        if not OTHER.match(part) and not any(_begins(part, name) for name in names)
    ]


def _begins(part: str, name: str) -> bool:
    return re.match(rf"{re.escape(name)}(?!\w)", part) is not None
