"""Count the seeded faults that forced orders find (`orders --faults`)."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence

from boxspec.faults.fault import Fault, catalogue, shim_of
from boxspec.programs import programs
from boxspec.subject.contract import find
from boxspec.subject.orders.explore import Outcome, shortest


def count_faults(topics: Sequence[str], most: int, jobs: int) -> int:
    """Run at most `most` orders of each fault of these topics, and print which faults are found."""
    chosen = [fault for fault in catalogue() if fault.topic in topics]
    of, found = Counter(str(each.topic) for each in chosen), Counter[str]()
    for fault in chosen:
        broken = _first_found(fault, most, jobs)
        found[str(fault.topic)] += broken is not None
        by = f"{broken.order.seed} ({broken.violations[0].law})" if broken else ""
        print(f"{'found' if broken else 'missed':<7}{fault.id:<52}{by}".rstrip(), flush=True)
    for topic in topics:
        print(f"{topic}: {found[topic]} of {of[topic]} faults found")
    print(f"{found.total()} of {of.total()} faults found, by at most {most} orders each")
    return 0


def _first_found(fault: Fault, most: int, jobs: int) -> Outcome | None:
    """Return the shortest order that breaks a law with this fault."""
    of = find(fault.contract).load_orders()
    argv = shlex.split(shim_of(fault))
    for outcomes, _ in shortest(argv, programs.puppet, of, of.scenarios, most, jobs):
        for each in outcomes:
            if each.violations:
                return each
    return None
