"""Nanoseconds a check: all engines in turns in one process, after they gave the same answers."""

import math
import statistics
import sys
from dataclasses import dataclass
from typing import Any

from harness.children import once
from harness.figures import Ratio, Row, paired

from parts.build import Built

FAMILIES = {
    "mixed": "all of these",
    "literal": "a/b/c.d",
    "subtree": "P/**",
    "anywhere": "**/name/**",
    "extension": "**/*.ext",
    "two": "two wildcards",
}
SIZES = (1, 20, 1_000, 10_000)
FEW_RULES, MANY_RULES = 20, 10_000
FEW_PATHS, MANY_PATHS = 1_000, 100_000
MOST_FEW = 0.35  # of RE2::Set with the same rules
MOST_MANY = 1.0  # of RE2::Set with FEW_RULES
MOST_COLD = 2.0
WORDS = {
    "profile": "check",
    "matcher": "matcher alone",
    "glob": "single glob",
    "re2": "RE2::Set",
    "fnmatch": "fnmatch per rule",
    "pcre2": "PCRE2-JIT per rule",
}
ENGINES = ("profile", "matcher", "re2", "fnmatch", "pcre2")


@dataclass(frozen=True)
class Seen:
    """What one engine with one list of rules took, round by round."""

    ns: list[float]
    tier: str
    whole: bool  # all paths were asked
    refused: str  # why; empty: it was not

    @property
    def median(self) -> str:
        if self.refused:
            return "refused"
        ns = statistics.median(self.ns)
        text = f"{ns:.1f} ns" if ns < 1e4 else f"{ns / 1e3:,.0f} us"
        return text if self.whole else f"{text} (cut)"


def against(mine: Seen, other: Seen) -> Ratio:
    rounds = min(len(mine.ns), len(other.ns))
    return paired(mine.ns[:rounds], other.ns[:rounds])


def ask(
    built: Built, paths: str, family: str, rounds: int, who: list[tuple[str, int]]
) -> dict[tuple[str, int], Seen]:
    contestants = [f"{engine}:{built.seed(f'rules-{family}-{size}.txt')}" for engine, size in who]
    seen = once(built.driver, "check", built.seed(paths), str(rounds), *contestants)
    told: list[dict[str, Any]] = seen["contestants"]
    return {
        key: Seen(
            [each / 100 for each in one["centi_ns"]],
            one["tier"],
            one["answered"] == seen["paths"],
            one["refused"],
        )
        for key, one in zip(who, told, strict=True)
    }


def _judged(section: str, what: str, mine: Seen, other: Seen, most: float) -> Row:
    goal = f"<= {most} x RE2::Set, 20 rules"
    if mine.refused:
        print(f"{what}: {mine.refused}", file=sys.stderr)
        return Row(section, what, mine.median, goal=goal, met=False)
    ratio = against(mine, other)
    return Row(section, what, mine.median, ratio.median, ratio.interval, goal, ratio.median <= most)


def _section(family: str) -> str:
    return f"a check, {FEW_PATHS:,} paths, rules: {FAMILIES[family]}"


def _sized(section: str, size: int, seen: dict[tuple[str, int], Seen]) -> list[Row]:
    rules = f"{size:,} rule{'s' if size > 1 else ''}"
    mine = seen["profile", size]
    if size in (FEW_RULES, MANY_RULES):
        most = MOST_FEW if size == FEW_RULES else MOST_MANY
        rows = [_judged(section, f"{rules}: check", mine, seen["re2", FEW_RULES], most)]
    else:
        rows = [Row(section, f"{rules}: check", mine.median)]
    for engine in ENGINES[1:]:
        other = seen[engine, size]
        what = f"{rules}: {WORDS[engine]}"
        if other.tier:
            what += f" ({other.tier})"
        ratio = against(other, seen["re2", size]) if engine != "re2" and other.whole else None
        rows.append(
            Row(
                section,
                what,
                other.median,
                ratio.median if ratio else None,
                ratio.interval if ratio and len(other.ns) > 1 else None,
            )
        )
    return rows


def _worst(every: dict[str, dict[tuple[str, int], Seen]]) -> list[Row]:
    rows = []
    for size, most in ((FEW_RULES, MOST_FEW), (MANY_RULES, MOST_MANY)):
        ratios = {
            family: math.inf
            if seen["profile", size].refused
            else against(seen["profile", size], seen["re2", FEW_RULES]).median
            for family, seen in every.items()
        }
        family = max(ratios, key=lambda each: ratios[each])
        rows.append(
            _judged(
                "a check, the worst family",
                f"{size:,} rules: {FAMILIES[family]}",
                every[family]["profile", size],
                every[family]["re2", FEW_RULES],
                most,
            )
        )
    return rows


def families(built: Built, rounds: int) -> list[Row]:
    rows: list[Row] = []
    every: dict[str, dict[tuple[str, int], Seen]] = {}
    who = [(engine, size) for size in SIZES for engine in ENGINES]
    for family in FAMILIES:
        seen = ask(built, f"paths-{family}-{FEW_PATHS}.txt", family, rounds, who)
        every[family] = seen
        for size in SIZES:
            rows += _sized(_section(family), size, seen)
    return rows + _worst(every)


def many_paths(built: Built, rounds: int) -> list[Row]:
    section = f"a check, {MANY_PATHS:,} distinct paths, rules: {FAMILIES['mixed']}"
    who = [
        ("re2", FEW_RULES),
        ("profile", FEW_RULES),
        ("profile", MANY_RULES),
        ("matcher", MANY_RULES),
    ]
    seen = ask(built, f"paths-mixed-{MANY_PATHS}.txt", "mixed", rounds, who)
    base = seen["re2", FEW_RULES]
    few = seen["profile", FEW_RULES]
    ratio = against(few, base)
    alone = seen["matcher", MANY_RULES]
    return [
        Row(section, "20 rules: RE2::Set", base.median),
        Row(section, "20 rules: check", few.median, ratio.median, ratio.interval),
        _judged(section, "10,000 rules: check", seen["profile", MANY_RULES], base, MOST_COLD),
        Row(section, f"10,000 rules: matcher alone ({alone.tier})", alone.median),
    ]
