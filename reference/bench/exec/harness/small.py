"""Measure runs of /bin/true: the library, the bare loop and the peers in turns, also with 1 GiB of
memory in use.
"""

import contextlib
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.build import Peer
from harness.children import Server, serving
from harness.figures import Row, milliseconds, paired

SECTION = "a run of /bin/true"
RESIDENT = "the same with 1 GiB resident in the caller"
MOST = 1.05


@dataclass
class Pairs:
    """The samples of one driver process. A round is the median of one turn."""

    library: list[int] = field(default_factory=list)
    bare: list[int] = field(default_factory=list)
    library_rounds: list[float] = field(default_factory=list)
    bare_rounds: list[float] = field(default_factory=list)

    def take(self, server: Server, runs: int) -> None:
        answer = server.ask(runs)
        library, bare = answer[0::2], answer[1::2]
        self.library += library
        self.bare += bare
        self.library_rounds.append(statistics.median(library))
        self.bare_rounds.append(statistics.median(bare))

    def rows(self, section: str) -> list[Row]:
        ratio = paired(self.library, self.bare)
        return [
            Row(section, "bare loop", milliseconds(statistics.median(self.bare))),
            Row(
                section,
                "library / bare loop",
                milliseconds(statistics.median(self.library)),
                ratio.median,
                ratio.interval,
                f"<= {MOST}",
                ratio.median <= MOST,
            ),
        ]


@dataclass
class Other:
    server: Server
    all: list[int] = field(default_factory=list)
    rounds: list[float] = field(default_factory=list)

    def take(self, runs: int) -> None:
        answer = self.server.ask(runs)
        self.all += answer
        self.rounds.append(statistics.median(answer))


def _unchanged(name: str, mine: list[float], small: list[float], control: list[float]) -> Row:
    """Return the row that compares a process of 1 GiB with a small one.

    The goal is that the two take the same time: the confidence interval of the ratio overlaps that
    of a second small process (`control`), or lies below it.
    """
    ratio = paired(mine, small)
    low, high = paired(control, small).interval
    return Row(
        RESIDENT,
        f"{name}, 1 GiB / small",
        milliseconds(statistics.median(mine)),
        ratio.median,
        ratio.interval,
        f"like [{low:.3f} {high:.3f}]",
        ratio.interval[0] <= high,
    )


def measure(driver: Path, peers: Sequence[Peer], rounds: int, runs: int) -> list[Row]:
    small, control, resident = Pairs(), Pairs(), Pairs()
    with contextlib.ExitStack() as stack:
        servers = [
            (pairs, stack.enter_context(serving("the driver", driver, "pairs", mib)))
            for pairs, mib in ((small, "0"), (control, "0"), (resident, "1024"))
        ]
        others = [
            Other(stack.enter_context(serving(peer.name, *peer.argv)))
            for peer in peers
            if peer.argv
        ]
        for server in [server for _, server in servers] + [other.server for other in others]:
            server.ask(3)  # the first runs load programs and pages, so they are not counted
        for _ in range(rounds):
            for pairs, server in servers:
                pairs.take(server, runs)
            for other in others:
                other.take(runs)
    rows = small.rows(SECTION)
    for other in others:
        ratio = paired(other.rounds, small.bare_rounds)
        median = milliseconds(statistics.median(other.all))
        rows.append(
            Row(SECTION, f"{other.server.name} / bare", median, ratio.median, ratio.interval)
        )
    rows += [Row(SECTION, peer.name, "no toolchain") for peer in peers if not peer.argv]
    rows += resident.rows(RESIDENT)
    rows += [
        _unchanged("library", *(each.library_rounds for each in (resident, small, control))),
        _unchanged("bare loop", *(each.bare_rounds for each in (resident, small, control))),
    ]
    return rows
