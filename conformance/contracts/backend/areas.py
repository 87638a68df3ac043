"""Count the attempts of a run by area, for the table that a person reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from boxspec.judge.record import Record
from boxspec.judge.verdict import OBSERVED, Verdict

# For each area: its topics, and the aspects that a backend claims for it. The contract requires
# `launch` of every backend, so no backend claims it.
AREAS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "files": (("WRITE", "META", "RULE"), ("fs-read", "fs-write", "fs-metadata")),
    "network": (("NET", "EGRESS"), ("network",)),
    "process": (("PROC",), ("process",)),
    "IPC": (("IPC",), ("ipc",)),
    "kernel": (("KERNEL",), ("kernel",)),
    "launch": (("LAUNCH",), ()),
}
COLUMNS = ("held", "escaped", "not claimed", "not tested")


def rows(records: Iterable[Record], claims: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Return the head of the table, and one row for each area with an attempt.

    claims: the best claim of each aspect under any profile.
    """
    counts: dict[str, Counter[str]] = {area: Counter() for area in AREAS}
    by_topic = {topic: area for area, (topics, _) in AREAS.items() for topic in topics}
    for record in records:
        contract, topic, _ = record.requirements[0].split("-", 2)
        column = _column(record)
        if contract == "BACKEND" and topic in by_topic and column:
            counts[by_topic[topic]][column] += 1
    found: list[tuple[str, ...]] = [("area", "claims", *COLUMNS)]
    for area, count in counts.items():
        if count:
            cells = (str(count[column] or "-") for column in COLUMNS)
            found.append((area, _claim(area, claims), *cells))
    return found


def _column(record: Record) -> str:
    if record.verdict in OBSERVED:
        return "escaped"
    if record.escaped:
        return "not claimed"
    return {Verdict.CONFORMS: "held", Verdict.NOT_MEASURED: "not tested"}.get(record.verdict, "")


def _claim(area: str, claims: Mapping[str, str]) -> str:
    aspects = AREAS[area][1]
    words = {claims.get(aspect, "unavailable") for aspect in aspects}
    if words <= {"fully"}:
        return "fully"
    return "nothing" if words == {"unavailable"} else "partly"
