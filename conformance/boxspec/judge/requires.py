"""Define `@requires`. It names the requirements that a test decides, and says how the test may
run."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

Body = TypeVar("Body", bound=Callable[..., Any])

ID = re.compile(r"[A-Z]+(?:-[A-Z0-9]+)+-\d+")


@dataclass(frozen=True)
class Requires:
    """The arguments of `@requires` for one test. The function `requires` documents them."""

    ids: tuple[str, ...]
    pitfalls: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    overlap: bool = False
    seconds: float = field(default=1.0)
    stress: int | None = None
    timing: bool = False
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
    needs: Sequence[str] = (),
    inside: bool = False,
) -> Callable[[Body], Body]:
    """Name the requirements that a test decides.

    overlap: the body may run in a thread at the same time as other tests, from the start of the
        session. A number is its expected duration in seconds; the longest bodies start first.
    needs: requirements of any topic that this test relies on. If one of them is broken, a failure
        of this test counts as blocked. If every test of a requirement needs another requirement,
        name that need in requirements.yaml instead.
    inside: the test is about runs in a sandbox, and is collected only with `--backend`.
    """
    if not ids:
        raise TypeError("@requires names at least one requirement")
    for each in (*ids, *needs):
        if not ID.fullmatch(each):
            raise TypeError(f"{each!r} is not a requirement id")
    named = (capability,) if isinstance(capability, str) else tuple(capability or ())
    arguments = Requires(
        ids=tuple(ids),
        pitfalls=tuple(pitfalls),
        capabilities=named,
        overlap=overlap is not False,
        seconds=float(overlap) if not isinstance(overlap, bool) else 1.0 if overlap else 0.0,
        stress=int(stress) if stress else None,
        timing=timing,
        needs=tuple(needs),
        inside=inside,
    )
    topics = {each.rsplit("-", 1)[0] for each in ids}
    if len(topics) != 1:
        raise TypeError(f"the ids of one test share one topic, not {sorted(topics)}")

    def mark(body: Body) -> Body:
        import pytest

        marked: Any = pytest.mark.requires(arguments)(body)
        if arguments.timing:
            marked = pytest.mark.timing(marked)
        if arguments.stress:
            marked = pytest.mark.stress(marked)
        done: Body = marked
        return done

    return mark
