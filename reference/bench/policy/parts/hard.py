"""Match one rule that is difficult by design with one long path.

Measure the speed, and show that the time grows linearly.
"""

import statistics
import sys
from typing import Any

from harness.children import once
from harness.figures import CouldNotRun, Row, milliseconds, paired

from parts.build import Built
from parts.checks import WORDS

FAMILIES = ("*a*a*a…b", "*a????…", "*x*y*z*", "**/a/**/a/…/b")
HALF = 50_000  # length of the shorter path in bytes; the longer path has twice as many
MOST_MS = {64: 1, 4_096: 50}
MOST_GROWTH = 2.3  # 2 for the doubled work; the rest is an allowance for caches
OURS = ("glob", "matcher")
PEERS = ("re2", "fnmatch", "pcre2")
PEER_S = 5


def _peer(section: str, built: Built, engine: str, words: tuple[str, ...]) -> Row:
    try:
        seen = once(built.driver, "match", engine, *words, longest_s=PEER_S)
    except CouldNotRun:
        return Row(section, f"    {WORDS[engine]}", f"> {PEER_S} s")
    if seen["refused"]:
        return Row(section, f"    {WORDS[engine]}", seen["refused"])
    growth = paired(seen["long_ns"], seen["short_ns"])
    return Row(
        section,
        f"    {WORDS[engine]}",
        milliseconds(statistics.median(seen["long_ns"])),
        growth.median,
    )


def _ours(section: str, what: str, seen: dict[str, Any], most_ms: int) -> list[Row]:
    if seen["refused"]:
        print(f"{what}: {seen['refused']}", file=sys.stderr)
        return [Row(section, what, "refused", goal="answers", met=False)]
    ns = statistics.median(seen["long_ns"])
    growth = paired(seen["long_ns"], seen["short_ns"])
    return [
        Row(section, f"{what}: 100 kB", milliseconds(ns), goal=f"<= {most_ms} ms",
            met=ns <= most_ms * 1e6),
        Row(section, f"{what}: 100 kB / 50 kB", "", growth.median, growth.interval,
            f"<= {MOST_GROWTH}", growth.median <= MOST_GROWTH),
        Row(section, f"{what}: compiled once", milliseconds(seen["compile_ns"])),
    ]  # fmt: skip


def patterns(built: Built) -> list[Row]:
    rows: list[Row] = []
    for tokens, most_ms in MOST_MS.items():
        section = f"one hard rule of {tokens:,} tokens against a path of 100 kB"
        for family, shape in enumerate(FAMILIES):
            words = (str(family), str(tokens), str(HALF))
            for engine in OURS:
                seen = once(built.driver, "match", engine, *words)
                rows += _ours(section, f"{shape}, {WORDS[engine]}", seen, most_ms)
            rows += [_peer(section, built, engine, words) for engine in PEERS]
    return rows
