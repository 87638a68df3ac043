"""Rows of the table, and the statistics in them."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


class CouldNotRun(Exception):
    """Raised if a measurement could not be made; the text gives the reason."""


@dataclass(frozen=True)
class Row:
    section: str
    what: str
    measured: str
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    goal: str = ""
    met: bool | None = None  # None if there is no goal: the row is only for comparison
    broken: bool = False


@dataclass(frozen=True)
class Ratio:
    """The median of the ratios of pairs, and its 95 % confidence interval."""

    median: float
    interval: tuple[float, float]


def paired(a: Sequence[float], b: Sequence[float]) -> Ratio:
    ratios = sorted(x / y for x, y in zip(a, b, strict=True))
    n = len(ratios)
    low = max(0, math.floor(n / 2 - 0.98 * math.sqrt(n)))
    return Ratio(statistics.median(ratios), (ratios[low], ratios[n - 1 - low]))


def milliseconds(ns: float) -> str:
    return f"{ns / 1e6:.3f} ms"


def mebibytes(kib: float) -> str:
    return f"{kib / 1024:.1f} MiB"


def throughput(total: float, ns: float) -> str:
    return f"{total / ns:.2f} GB/s"
