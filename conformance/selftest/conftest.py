"""A self-test session that is ended by SIGTERM ends what it has started, like one by SIGINT. What
the failing shims of its tests leave as evidence goes with it.

Tests that are marked `turns(n)` take turns where BOXSPEC_TURN is a number, as in ci/test, which
sets it by the commit: each is asked at one number of n. Without it all are asked.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
import zlib
from pathlib import Path

import pytest

# What a run keeps of cases that failed.
EVIDENCE = re.compile(r"boxspec-[0-9]+-[0-9]+-\w{8}")

temporary = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if hasattr(config, "workerinput"):
        return  # a worker of xdist has the folder of the session
    # pytest's own folders, of which it keeps three, stay where they are.
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
    # A short path: there may be sockets below it.
    folder = Path(tempfile.mkdtemp(prefix="boxspec-"))
    # Some cases run as another user.
    folder.chmod(0o755)
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    config.stash[temporary] = folder


def _waits(item: pytest.Item, turn: int) -> bool:
    """Whether it is the turn of others. By its name: what is new beside it changes nothing."""
    turns = item.get_closest_marker("turns")
    return turns is not None and (zlib.crc32(item.nodeid.encode()) + turn) % turns.args[0] != 0


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes longest begins first: nobody waits at the end for it alone."""
    if turn := os.environ.get("BOXSPEC_TURN"):
        waiting = [item for item in items if _waits(item, int(turn))]
        config.hook.pytest_deselected(items=waiting)
        items[:] = [item for item in items if not _waits(item, int(turn))]
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """All other leftovers are a mistake, which fails the session."""
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
