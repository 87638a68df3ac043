"""`@requires`: which requirements a test decides and how it may be run."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

Body = TypeVar("Body", bound=Callable[..., Any])

ID = re.compile(r"[A-Z]+(?:-[A-Z0-9]+)+-\d+")


@dataclass(frozen=True)
class Requires:
    """What `@requires` says about one test."""

    ids: tuple[str, ...]
    pitfalls: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    overlap: bool = False
    seconds: float = field(default=1.0)
    stress: int | None = None
    timing: bool = False
    main_thread: bool = False
    needs: tuple[str, ...] = ()
    inside: bool = False

    @property
    def topic(self) -> str:
        return self.ids[0].rsplit("-", 1)[0]


def requires(
    *ids: str,
    pitfalls: Sequence[str] = (),
    capability: str | Sequence[str] | None = None,
    overlap: bool | float = False,
    stress: int | bool | None = None,
    timing: bool = False,
    main_thread: bool = False,
    needs: Sequence[str] = (),
    inside: bool = False,
) -> Callable[[Body], Body]:
    """Name the requirements that a test decides.

    overlap: the body starts with the session in a worker thread; a number is the expected
    duration in seconds (the longest start first).
    main_thread: the body runs nowhere else. Hypothesis reads sources with `ast`, pytest does so for
    each traceback, and CPython 3.11 takes only one of them at a time.
    needs: requirements of any topic without which this test decides nothing: where one of them is
    broken, a failure of this test is blocked by it. What holds for each test of a requirement
    stands in requirements.yaml as `needs`.
    inside: it is about runs in a sandbox, and is there with `--backend` alone.
    """
    if not ids:
        raise TypeError("@requires names at least one requirement")
    for each in (*ids, *needs):
        if not ID.fullmatch(each):
            raise TypeError(f"{each!r} is no requirement id")
    named = (capability,) if isinstance(capability, str) else tuple(capability or ())
    says = Requires(
        ids=tuple(ids),
        pitfalls=tuple(pitfalls),
        capabilities=named,
        overlap=overlap is not False,
        seconds=float(overlap) if not isinstance(overlap, bool) else 1.0 if overlap else 0.0,
        stress=int(stress) if stress else None,
        timing=timing,
        main_thread=main_thread,
        needs=tuple(needs),
        inside=inside,
    )
    topics = {each.rsplit("-", 1)[0] for each in ids}
    if len(topics) != 1:
        raise TypeError(f"the ids of one test share one topic, not {sorted(topics)}")

    def mark(body: Body) -> Body:
        import pytest

        marked: Any = pytest.mark.requires(says)(body)
        if says.timing:
            marked = pytest.mark.timing(marked)
        if says.stress:
            marked = pytest.mark.stress(marked)
        done: Body = marked
        return done

    return mark
