"""Say what the sources of requirements are: documents, decisions, known mistakes."""

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
    """Return what the sources without addresses are, by the names with which they begin."""
    found: Mapping[str, str] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return found


def meanings(each: Requirement) -> dict[str, str]:
    """Return what each source without an address is, by the name with which it begins.

    Other requirements are left out, because their ids say what they are.
    """
    sources = [part.strip() for part in each.source.split(";")]
    return {
        name: text for name, text in known().items() if any(_begins(part, name) for part in sources)
    }


def unexplained(each: Requirement) -> list[str]:
    """Return the sources of a requirement that say neither here nor by an address what they are."""
    names = [*known(), *each.links]
    return [
        part
        for part in (part.strip() for part in each.source.split(";"))
        if not OTHER.match(part) and not any(_begins(part, name) for name in names)
    ]


def _begins(part: str, name: str) -> bool:
    return re.match(rf"{re.escape(name)}(?!\w)", part) is not None
