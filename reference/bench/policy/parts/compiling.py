"""Measure compilations, each in a fresh process. Some rule lists need exponentially many states."""

import statistics
import sys
from typing import Any

from harness.children import once
from harness.figures import CouldNotRun, Row, mebibytes, milliseconds

from parts.build import Built
from parts.checks import FAMILIES, FEW_PATHS, MANY_RULES, WORDS

MOST_MS, MOST_MIB = 100, 16
HOSTILE_MS, HOSTILE_MIB = 1_000, 64
HOSTILE = {
    "crossing": "1,000 of *x*y*z*",
    "counting": "1,000 of *x?????…",
    "stars": "200 of *x*y*…, 64 letters",
    "anywhere-stars": "10,000 of **/*x*y*z*/**",
}


def _once(built: Built, engine: str, rules: str) -> dict[str, Any]:
    paths = built.seed(f"paths-mixed-{FEW_PATHS}.txt")
    return once(built.driver, "compile", engine, built.seed(rules), paths)


def _cost(
    section: str, what: str, seen: list[dict[str, Any]], most_ms: float, most_mib: float
) -> list[Row]:
    ns = statistics.median(each["ns"] for each in seen)
    peak = max(each["peak_kib"] for each in seen)
    return [
        Row(section, f"{what}: time", milliseconds(ns), goal=f"<= {most_ms:,} ms",
            met=ns <= most_ms * 1e6),
        Row(section, f"{what}: peak memory", mebibytes(peak), goal=f"<= {most_mib} MiB",
            met=peak <= most_mib * 1024),
    ]  # fmt: skip


def _peer(section: str, engine: str, seen: dict[str, Any]) -> Row:
    used = "" if "refused" in seen else f", {mebibytes(seen['used_kib'])} after {FEW_PATHS:,} paths"
    return Row(
        section,
        f"{FAMILIES['mixed']}, {WORDS[engine]}: {mebibytes(seen['peak_kib'])} at most{used}",
        milliseconds(seen["ns"]),
    )


def realistic(built: Built, rounds: int) -> list[Row]:
    section = f"compiling {MANY_RULES:,} rules (the matcher of one list)"
    rows: list[Row] = []
    for family, words in FAMILIES.items():
        seen = [_once(built, "matcher", f"rules-{family}-{MANY_RULES}.txt") for _ in range(rounds)]
        if any("refused" in each for each in seen):
            print(f"{words}: {seen[0]['refused']}", file=sys.stderr)
            rows.append(Row(section, words, "refused", goal="compiles", met=False))
            continue
        rows += _cost(section, f"{words} ({seen[0]['tier']})", seen, MOST_MS, MOST_MIB)
    for engine in ("re2", "fnmatch", "pcre2"):
        rows.append(_peer(section, engine, _once(built, engine, f"rules-mixed-{MANY_RULES}.txt")))
    return rows


def hostile(built: Built) -> list[Row]:
    section = "hostile sets: compiled, or refused by the budget"
    rows: list[Row] = []
    for kind, words in HOSTILE.items():
        try:
            seen = _once(built, "matcher", f"hostile-{kind}.txt")
        except CouldNotRun as error:
            rows.append(Row(section, f"{words}: {error}", "-", goal="an answer", met=False))
            continue
        refused = "refused" in seen
        if refused:
            print(f"{words}: {seen['refused']}", file=sys.stderr)
        tier = "refused" if refused else seen["tier"]
        rows += _cost(section, f"{words} ({tier})", [seen], HOSTILE_MS, HOSTILE_MIB)
        if not refused:
            ns = seen["first_pass_ns"] / FEW_PATHS
            rows.append(Row(section, f"{words}: a check, first pass", f"{ns / 1e3:.1f} us"))
    return rows
