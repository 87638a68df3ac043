"""What a pytest session leaves beside its records."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

# The name of the user property that holds the record of a test.
PROPERTY = "boxspec"


@dataclass
class Ending:
    """`stop` is why nothing was judged; `repeat` are the lines of --repeat, `flaky` their sum.

    `left` says what the shim left running, `folders` which of ours it keeps from being removed.
    `ahead` gives the tests whose bodies are done in other threads, before pytest comes to them.
    `again` is the test that is asked once more now.
    """

    hello: dict[str, Any] = field(default_factory=dict)
    stop: BaseException | None = None
    repeat: list[str] = field(default_factory=list)
    flaky: int = 0
    left: Callable[[], str] = str
    folders: Callable[[], list[str]] = list
    ahead: Callable[[], Iterable[Hashable]] = tuple
    again: str = ""


ENDING = pytest.StashKey[Ending]()
