"""Measure checks through `boxspec-ref serve`, with a client in C that uses pipes."""

import statistics

from harness.children import once
from harness.figures import Row

from parts.build import Built
from parts.checks import FEW_PATHS, FEW_RULES

LEAST_MILLION = 1.0
MOST_US = 100


def serve(built: Built, rounds: int) -> list[Row]:
    section = f"through serve, {FEW_RULES} rules"
    seen = once(
        built.driver,
        "serve",
        built.program,
        built.seed(f"rules-mixed-{FEW_RULES}.txt"),
        built.seed(f"paths-mixed-{FEW_PATHS}.txt"),
        str(rounds),
    )
    batch = statistics.median(seen["batch_ns"])
    rate = FEW_PATHS / batch * 1e3
    single = sorted(seen["single_ns"])
    p50 = statistics.median(single)
    p99 = single[len(single) * 99 // 100]
    return [
        Row(section, f"batches of {FEW_PATHS:,}, checks a second on one core", f"{rate:.2f} M",
            goal=f">= {LEAST_MILLION:.0f} M", met=rate >= LEAST_MILLION),
        Row(section, "the same by the server's CPU time alone",
            f"{FEW_PATHS / seen['cpu_ns'] * 1e3:.2f} M"),
        Row(section, "one check a request, p50", f"{p50 / 1e3:.1f} us", goal=f"<= {MOST_US} us",
            met=p50 <= MOST_US * 1e3),
        Row(section, "one check a request, p99", f"{p99 / 1e3:.1f} us"),
    ]  # fmt: skip
