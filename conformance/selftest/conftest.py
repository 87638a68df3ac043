"""pytest hooks of the self-tests.

SIGTERM and SIGINT end a session and its processes, even if the session was started in the
background with these signals ignored. Evidence of failing shims is deleted together with the
session's folder.

Tests with the mark `turns(n)` run only at one of n commits. For this, ci/test sets BOXSPEC_TURN to
a number that depends on the commit. Without BOXSPEC_TURN all tests run.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
from collections import Counter
from pathlib import Path

import pytest

# Folders in which a run keeps the files of failed tests.
EVIDENCE = re.compile(r"boxspec-[0-9]+-[0-9]+-[0-9]+-\w{8}")

temporary = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    # A shell starts background jobs with SIGINT ignored. The processes of the tests would inherit
    # that, and the kit would not end at the SIGINT of a test or of a time limit.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    if hasattr(config, "workerinput"):
        return  # a worker of xdist uses the folder of the session
    # Keep pytest's own folders in the usual place, because it leaves the last three there.
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
    # The path is short, because tests create sockets in it and socket addresses are short.
    folder = Path(tempfile.mkdtemp(prefix="boxspec-"))
    # Some tests run as another user, who must be able to enter the folder.
    folder.chmod(0o755)
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    config.stash[temporary] = folder


def _waiting(items: list[pytest.Item], turn: int) -> list[pytest.Item]:
    """Return the tests that this commit does not run.

    The tests of one mark are given to the commits in turn, one by one. The tests of a file often
    take equally long, so each commit gets a similar share of the time.
    """
    waiting = []
    dealt: Counter[int] = Counter()
    for item in items:
        mark = item.get_closest_marker("turns")
        if mark is None:
            continue
        turns = mark.args[0]
        if (dealt[turns] + turn) % turns != 0:
            waiting.append(item)
        dealt[turns] += 1
    return waiting


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Start the longest tests first, so that the session does not end with one long test."""
    if turn := os.environ.get("BOXSPEC_TURN"):
        waiting = _waiting(items, int(turn))
        config.hook.pytest_deselected(items=waiting)
        kept = {*items} - {*waiting}
        items[:] = [item for item in items if item in kept]
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail the session if files other than evidence are left."""
    folder = session.config.stash.get(temporary, None)
    if folder is None:
        return
    left = [path.name for path in folder.iterdir() if not EVIDENCE.fullmatch(path.name)]
    if left and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    if session.exitstatus == pytest.ExitCode.TESTS_FAILED and any(folder.iterdir()):
        said = f"left behind: {' '.join(sorted(left))}; " if left else ""
        print(f"\n{said}kept: {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
