"""The confinement of a process, as far as /proc shows it: its namespaces, its capabilities, its
filter of system calls, and whether it may gain privileges.

A planted script adds these facts about itself to its mark. So a mark shows whether the script was
executed outside, even if programs inside can make a mark too.
"""

from __future__ import annotations

import re
from pathlib import Path

from boxspec.subject.observe.facts import content
from boxspec.subject.observe.procs import read

Confinement = frozenset[str]
FACT = re.compile(
    r"^(?:NoNewPrivs|Seccomp|Seccomp_filters|CapEff|CapBnd):\s*\w+|\b(?:mnt|net|pid|user|ipc):\[\d+\]",
    re.MULTILINE,
)
NAMESPACES = ("mnt", "net", "pid", "user", "ipc")
UNKNOWN: Confinement = frozenset()


def of_process(pid: int | str) -> Confinement:
    """Return the confinement of a process; UNKNOWN if this user cannot see it."""
    folder = Path(f"/proc/{pid}")
    try:
        links = [str((folder / "ns" / name).readlink()) for name in NAMESPACES]
    except OSError:
        return UNKNOWN
    status = read(f"{folder}/status") or b""
    return _facts("\n".join([status.decode("utf-8", "replace"), *links]))


def of_mark(mark: Path) -> list[Confinement]:
    """Return the confinement of each process that made this mark; UNKNOWN if it does not say."""
    text = (content(mark) or b"").decode("utf-8", "replace").strip()
    return [_facts(each) for each in text.split("\n\n")]


def _facts(text: str) -> Confinement:
    facts = frozenset("".join(each.split()) for each in FACT.findall(text))
    names = {fact.partition(":")[0] for fact in facts}
    return facts if names.issuperset(("NoNewPrivs", "CapEff", *NAMESPACES)) else UNKNOWN
