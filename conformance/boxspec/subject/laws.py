"""Check properties that hold for all inputs, by requests with generated inputs.

One example is a batch of inputs, because a request about many paths costs as much as a request
about one. The inputs are small from the start, so the first failure is reported without shrinking.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from boxspec.errors import HarnessError, ShimBroke
from boxspec.judge.verdict import Failure
from boxspec.places import cache

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from boxspec.subject.case import Case

Example = TypeVar("Example")

EXAMPLES = 20


def law(
    case: Case,
    strategy: SearchStrategy[Example],
    holds: Callable[[Example], None],
    examples: int = EXAMPLES,
) -> None:
    """Check that `holds` is true for `examples` examples, which depend on --seed.

    It works only in tests with `@requires(…, main_thread=True)`.
    """
    from hypothesis import HealthCheck, Phase, Verbosity, configuration, given, seed, settings

    found: list[Exception] = []

    def body(example: Example) -> None:
        # After a failure no example is tried, because the failure may be a hang.
        if found:
            return
        try:
            holds(example)
        except (Failure, ShimBroke) as why:
            found.append(why)

    limits: dict[str, Any] = {
        "max_examples": examples,
        "deadline": None,
        "database": None,
        "phases": (Phase.generate,),
        "verbosity": Verbosity.quiet,
        "suppress_health_check": tuple(HealthCheck),
    }
    if threading.current_thread() is not threading.main_thread():
        raise HarnessError("a law is tried in the main thread: @requires(…, main_thread=True)")
    # In this directory Hypothesis stores the constants that it finds in the sources of all modules.
    configuration.set_hypothesis_home_dir(cache() / "hypothesis")
    seed(case.session.seed)(settings(**limits)(given(strategy)(body)))()
    if found:
        raise found[0]
