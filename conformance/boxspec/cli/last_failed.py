"""Remember which requirements the last runs of a shim broke, for `run --last-failed`."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from boxspec.errors import UsageError
from boxspec.judge.requirements import load
from boxspec.judge.results import ResultTree
from boxspec.judge.verdict import Verdict
from boxspec.places import cache
from boxspec.report.output_file import replace_file


def recall(argv: Sequence[str], only: Sequence[str] | None = None) -> list[str]:
    """Return the ids, or those of `only`; raise a UsageError for an empty list."""
    try:
        found: list[str] = json.loads(_file(argv).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = []
    found = [name for name in found if name in load() and (not only or name in only)]
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
    left = [name for name in failed if name not in conforms]
    # A run is not worse because this cannot be remembered.
    with contextlib.suppress(OSError, UsageError):
        if left:
            _file(argv).parent.mkdir(parents=True, exist_ok=True)
            replace_file(_file(argv), json.dumps(left) + "\n")
        else:
            _file(argv).unlink(missing_ok=True)


def _file(argv: Sequence[str]) -> Path:
    name = hashlib.sha256("\0".join(argv).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return cache() / "last-failed" / f"{name}.json"
