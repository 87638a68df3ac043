"""Measure nanoseconds per check.

All engines take turns in one process, after they have agreed on all answers.
"""

import statistics
import sys
from dataclasses import dataclass
from typing import Any

from harness.children import once
from harness.figures import Ratio, Row, paired

from parts.build import Built

FAMILIES = {
    "policies": "as in fixtures/policies",
    "mixed": "all of the following",
    "literal": "a/b/c.d",
    "subtree": "P/**",
    "anywhere": "**/name/**",
    "extension": "**/*.ext",
    "two": "two wildcards",
}
MIXES = ("policies", "mixed")
SIZES = (1, 20, 100, 1_000, 10_000)
FEW_RULES, MANY_RULES = 20, 10_000
FEW_PATHS, MANY_PATHS = 1_000, 100_000
PATHS_SIZES = (20, 1_000, 10_000)
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
    """The times of one engine with one list of rules; one value for each round."""

    ns: list[float]
    tier: str
    whole: bool  # the engine decided every path
    refused: str  # the reason if the rules were refused, else empty

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


def most_of(family: str, size: int) -> float | None:
    """Return the goal, the largest permitted ratio to RE2::Set with the same rules and paths;

    None without a goal.
    """
    if family in MIXES:
        return 0.35 if size <= 1_000 else 1.0
    return 1.0 if size == 1_000 else None


def _check(section: str, size: int, seen: dict[tuple[str, int], Seen], most: float | None) -> Row:
    mine, other = seen["profile", size], seen["re2", size]
    what = f"{_rules(size)}: check"
    ratio = against(mine, other) if not mine.refused else None
    goal = f"<= {most} x RE2::Set" if most is not None else ""
    met = None if most is None else ratio is not None and ratio.median <= most
    if ratio is None:
        print(f"{what}: {mine.refused}", file=sys.stderr)
        return Row(section, what, mine.median, goal=goal, met=met)
    return Row(section, what, mine.median, ratio.median, ratio.interval, goal, met)


def _rules(size: int) -> str:
    return f"{size:,} rule{'s' if size > 1 else ''}"


def _section(family: str) -> str:
    return f"a check, {FEW_PATHS:,} paths, rules: {FAMILIES[family]}"


def _sized(family: str, size: int, seen: dict[tuple[str, int], Seen]) -> list[Row]:
    section = _section(family)
    rows = [_check(section, size, seen, most_of(family, size))]
    for engine in ENGINES[1:]:
        other = seen[engine, size]
        what = f"{_rules(size)}: {WORDS[engine]}"
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


def families(built: Built, rounds: int) -> list[Row]:
    rows: list[Row] = []
    who = [(engine, size) for size in SIZES for engine in ENGINES]
    for family in FAMILIES:
        seen = ask(built, f"paths-{family}-{FEW_PATHS}.txt", family, rounds, who)
        for size in SIZES:
            rows += _sized(family, size, seen)
    return rows


def many_paths(built: Built, rounds: int) -> list[Row]:
    section = f"a check, {MANY_PATHS:,} distinct paths, rules: {FAMILIES['mixed']}"
    who = [(engine, size) for size in PATHS_SIZES for engine in ("profile", "matcher", "re2")]
    seen = ask(built, f"paths-mixed-{MANY_PATHS}.txt", "mixed", rounds, who)
    rows = []
    for size in PATHS_SIZES:
        # Few rules have no goal: if all paths are distinct, every engine takes the same time for
        # them.
        most = most_of("mixed", size) if size > FEW_RULES else None
        alone = seen["matcher", size]
        rows += [
            _check(section, size, seen, most),
            Row(section, f"{_rules(size)}: matcher alone ({alone.tier})", alone.median),
            Row(section, f"{_rules(size)}: RE2::Set", seen["re2", size].median),
        ]
    return rows
