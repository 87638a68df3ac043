"""Remember which requirements the last runs of a shim broke, for `run --last-failed`."""

from __future__ import annotations

from collections.abc import Sequence

from boxspec.cli import cache
from boxspec.errors import UsageError
from boxspec.judge.requirements import load
from boxspec.judge.results import ResultTree
from boxspec.judge.verdict import Verdict

KIND = "last-failed"


def recall(argv: Sequence[str], only: Sequence[str] | None = None) -> list[str]:
    """Return the remembered ids, or only those that are also in `only`.

    Raise a UsageError if there is no such id.
    """
    remembered: list[str] = cache.read(KIND, argv) or []
    found = [name for name in remembered if name in load() and (not only or name in only)]
    if not found:
        raise UsageError("--last-failed", "no failure of this shim is known", "leave it out")
    return found


def remember(argv: Sequence[str], tree: ResultTree) -> None:
    """Add the requirements that this run has broken, and remove those that conform now."""
    try:
        before = recall(argv)
    except UsageError:
        before = []
    conforms = {each.id for each in tree.judged if each.verdict is Verdict.CONFORMS}
    failed = dict.fromkeys([*before, *(each.id for each in tree.failed)])
    cache.write(KIND, argv, [name for name in failed if name not in conforms])
