"""The confinement of a process, as far as /proc shows it: its namespaces, its capabilities, its
filter of system calls, and whether it may gain privileges.

A planted script adds these facts about itself to its mark. So a mark shows whether the script was
executed outside, even if programs inside can make a mark too.
"""

from __future__ import annotations

import re
from pathlib import Path

from boxspec.subject.observe.facts import content
from boxspec.subject.observe.namespaces import NAMESPACES, namespaces
from boxspec.subject.observe.procs import read

Confinement = frozenset[str]
FACT = re.compile(r"^(?:NoNewPrivs|Seccomp|Seccomp_filters|CapEff|CapBnd):\s*\w+", re.MULTILINE)
NAMESPACE = re.compile(rf"\b(?:{'|'.join(NAMESPACES)}):\[\d+\]")
UNKNOWN: Confinement = frozenset()


def of_process(pid: int | str) -> Confinement:
    """Return the confinement of a process; UNKNOWN if this user cannot see it."""
    try:
        links = namespaces(pid)
    except OSError:
        return UNKNOWN
    status = read(f"/proc/{pid}/status") or b""
    return _facts("\n".join([status.decode("utf-8", "replace"), *links]))


def of_mark(mark: Path) -> list[Confinement]:
    """Return the confinement of each process that made this mark; UNKNOWN if it does not say."""
    text = (content(mark) or b"").decode("utf-8", "replace").strip()
    return [_facts(each) for each in text.split("\n\n")]


def _facts(text: str) -> Confinement:
    """Return the facts in a text. Each start of a command makes new namespaces, so the fact about a
    namespace is only whether the kit is in it too."""
    own = namespaces("self")
    shared = {
        f"{each.partition(':')[0]}: {'own' if each in own else 'other'}"
        for each in NAMESPACE.findall(text)
    }
    status = {"".join(each.split()) for each in FACT.findall(text)}
    complete = len(shared) == len(NAMESPACES) and any("CapEff" in each for each in status)
    return frozenset(shared | status) if complete else UNKNOWN
