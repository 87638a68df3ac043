"""Measure parsing and validating in comparison with the parsers alone."""

import statistics

from harness.children import once
from harness.figures import Row, paired

from parts.build import Built

FORMATS = {"json": ("cJSON_ParseWithLength", 0.5), "yaml": ("libyaml events", 0.7)}
SIZES = (1_000, 10_000)


def _speed(total: int, ns: float) -> str:
    return f"{total / ns * 1e3:.1f} MB/s"


def load(built: Built, rounds: int) -> list[Row]:
    rows: list[Row] = []
    for size in SIZES:
        section = f"loading a policy of {size:,} rules: parsed and validated, not compiled"
        for kind, (bare, least) in FORMATS.items():
            seen = once(
                built.driver, "load", kind, built.seed(f"policy-{size}.{kind}"), str(rounds)
            )
            # The ratio compares throughputs, and throughput is the inverse of time. So the time of
            # the bare parser is the numerator.
            speed = paired(seen["bare_ns"], seen["library_ns"])
            total = seen["bytes"]
            rows += [
                Row(
                    section,
                    f"{kind}: bare {bare}",
                    _speed(total, statistics.median(seen["bare_ns"])),
                ),
                Row(
                    section,
                    f"{kind}: bs_policy_load / bare",
                    _speed(total, statistics.median(seen["library_ns"])),
                    speed.median,
                    speed.interval,
                    f">= {least}",
                    speed.median >= least,
                ),
            ]
    return rows
