"""Check laws, which hold for all inputs, by requests with generated inputs.

One example is a batch of inputs, because a request about many paths costs as much as a request
about one. All inputs are small, so the first failure needs no shrinking.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from boxspec.subject.case import Case

Example = TypeVar("Example")

EXAMPLES = 20


def law(
    case: Case,
    make: Callable[[random.Random], Example],
    holds: Callable[[Example], None],
    examples: int = EXAMPLES,
) -> None:
    """Call `holds` with `examples` examples, which `make` makes from --seed.

    The test ends at the first example for which `holds` raises.
    """
    chance = random.Random(case.session.seed)
    for _ in range(examples):
        holds(make(chance))
