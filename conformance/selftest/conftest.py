"""A self-test session that is ended by SIGTERM ends what it has started, like one by SIGINT. What
the failing shims of its tests leave as evidence goes with it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest begins first: nobody waits at the end for it alone."""
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
    if session.exitstatus == pytest.ExitCode.TESTS_FAILED:
        said = f"left behind: {' '.join(sorted(left))}; " if left else ""
        print(f"\n{said}kept: {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
