"""Measure speed and peak memory for much output: captured, passed to a callback, or capped."""

import statistics
from pathlib import Path
from typing import Any

from harness.children import once
from harness.figures import Row, mebibytes, paired, throughput

LEAST_SPEED = 0.9
MOST_MEMORY = 2.2
CALLBACK_MIB = 4
CAP_MIB = 4
CAP_PEAK_MIB = 10


def _growth(seen: dict[str, Any]) -> int:
    return int(seen["peak_kib"]) - int(seen["start_kib"])


def capture(driver: Path, mib: int, rounds: int) -> list[Row]:
    section = f"capture of {mib} MiB"
    library: list[dict[str, Any]] = []
    bare: list[dict[str, Any]] = []
    for i in range(rounds):
        turns = [("library", library), ("bare", bare)]
        for who, seen in turns if i % 2 == 0 else reversed(turns):
            seen.append(once(driver, "capture", who, str(mib)))
    total = mib * 1024 * 1024
    # The ratio compares throughputs, and throughput is the inverse of time. So the time of the bare
    # loop is the numerator.
    speed = paired([each["ns"] for each in bare], [each["ns"] for each in library])
    growth = max(_growth(each) for each in library)
    memory = growth / (mib * 1024)
    return [
        Row(
            section,
            "doubling buffer, same pipe size",
            throughput(total, statistics.median(each["ns"] for each in bare)),
        ),
        Row(
            section,
            "library / doubling buffer",
            throughput(total, statistics.median(each["ns"] for each in library)),
            speed.median,
            speed.interval,
            f">= {LEAST_SPEED}",
            speed.median >= LEAST_SPEED,
        ),
        Row(
            section,
            "peak memory / captured",
            mebibytes(growth),
            memory,
            None,
            f"<= {MOST_MEMORY}",
            memory <= MOST_MEMORY,
        ),
    ]


def callback(driver: Path, mib: int) -> list[Row]:
    section = f"{mib} MiB through the output callback"
    seen = once(driver, "callback", str(mib))
    growth = _growth(seen)
    return [
        Row(section, "throughput", throughput(seen["bytes"], seen["ns"])),
        Row(
            section,
            "peak memory above start",
            mebibytes(growth),
            goal=f"<= {CALLBACK_MIB} MiB",
            met=growth <= CALLBACK_MIB * 1024,
        ),
    ]


def cap(driver: Path) -> list[Row]:
    growth = _growth(once(driver, "cap", str(CAP_MIB)))
    return [
        Row(
            f"yes under a cap of {CAP_MIB} MiB, ended by cap",
            "peak memory above start",
            mebibytes(growth),
            goal=f"<= {CAP_PEAK_MIB} MiB",
            met=growth <= CAP_PEAK_MIB * 1024,
        )
    ]
