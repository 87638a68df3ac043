"""Measure many runs: at once in one process, and one after the other with all outcomes."""

import statistics
from pathlib import Path
from typing import Any

from harness.children import once
from harness.figures import Row

SLEEP_NS = 1_000_000_000
ALLOWED_SPAWNS = 1.25


def _against_limit(seen: dict[str, Any]) -> float:
    limit = SLEEP_NS + seen["runs"] * ALLOWED_SPAWNS * seen["spawn_ns"]
    return float(seen["wall_ns"] / limit)


def burst(driver: Path, runs: int, rounds: int) -> list[Row]:
    section = f"{runs} runs of sleep 1 at once"
    rows = []
    seen: dict[str, list[dict[str, Any]]] = {"bare": [], "library": []}
    for i in range(rounds):
        turns = list(seen.items())
        for who, results in turns if i % 2 == 0 else reversed(turns):
            results.append(once(driver, "burst", who, str(runs)))
    for who, results in seen.items():
        wall = statistics.median(each["wall_ns"] for each in results)
        ratio = statistics.median(_against_limit(each) for each in results)
        rows.append(
            Row(
                section,
                f"{'bare loop' if who == 'bare' else who} / (1 s + {ALLOWED_SPAWNS} spawns each)",
                f"{wall / 1e9:.3f} s",
                ratio,
                None,
                "<= 1" if who == "library" else "",
                ratio <= 1 if who == "library" else None,
            )
        )
    return rows


def outcomes(driver: Path, runs: int) -> list[Row]:
    section = f"{runs} runs over all outcomes"
    seen = once(driver, "outcomes", str(runs))
    before, after = seen["before"], seen["after"]
    rows = [
        Row(section, what, f"{before[what]} -> {after[what]}", None, None, "flat",
            after[what] <= before[what])
        for what in ("descriptors", "threads", "zombies")
    ]  # fmt: skip
    rows.append(
        Row(section, "processes left alive", "yes" if after["alive"] else "none", None, None,
            "none", not after["alive"])
    )  # fmt: skip
    unexpected = seen["unexpected"]
    rows.append(
        Row(section, "unexpected outcomes", str(unexpected), None, None, "0", unexpected == 0)
    )
    return rows
