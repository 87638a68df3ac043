"""Policies inside: another process replaces a directory of the workspace while programs start."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from boxspec.api import HostLacks, Late, Verdict, expect, requires
from contracts.backend.attempt import WORK
from contracts.backend.client import BackendCase
from contracts.backend.ground import Ground, made_ground
from contracts.backend.ruled import excuse_rule, planted, policy
from contracts.backend.uses import shell

# Exchange two paths until killed: renameat2 with RENAME_EXCHANGE. Begin when the file `begin`
# exists, and then create the file `begun`. The first path is a link for a third of the time, so
# that some programs can start. A sandbox may also refuse each start.
EXCHANGES = """import ctypes, os, sys, time
first, second, begin, begun = (os.fsencode(word) for word in sys.argv[1:])
while not os.path.exists(begin):
    time.sleep(0.001)
renameat2 = ctypes.CDLL(None).renameat2
while renameat2(-100, first, -100, second, 2) == 0:
    time.sleep(0.001)
    if renameat2(-100, first, -100, second, 2) != 0:
        break
    open(begun, "w").close()
    time.sleep(0.002)
"""
STARTS = 16
FILE = "deep/kept"
# For each case, the rules for which a sandbox needs its own mount or grant of the directory `tree`.
RULES = {
    "a directory that the profile permits": policy(modify=("tree/**", "notes/**")),
    "a directory above a denied file": policy((f"tree/{FILE}",)),
}


@contextmanager
def exchanging(ground: Ground) -> Iterator[None]:
    """Let another process exchange `tree` and `link`, from the time when the file `notes/begin`
    exists."""
    names = ("tree", "link", "notes/begin", "notes/begun")
    words = [str(ground.ws / name) for name in names]
    command = [sys.executable, "-I", "-S", "-c", EXCHANGES, *words]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as process:
        try:
            yield
            if process.poll() is not None:
                raise HostLacks("set-up", "a file system that exchanges two paths (renameat2)")
        finally:
            process.kill()


def tree_of(root: Path) -> Path:
    """Make the directory that rules are about, or the one with the same names outside."""
    file = root / FILE
    file.parent.mkdir(parents=True)
    file.write_text("canary\n")
    return root


@requires("BACKEND-RULE-22", capability="backend.policy", needs=[WORK, "BACKEND-CONTEXT-01"])
@pytest.mark.parametrize("what", RULES)
def test_a_directory_that_becomes_a_link_during_a_start_leads_nowhere(
    case: BackendCase, what: str
) -> None:
    rules: dict[str, Any] = RULES[what]
    with made_ground() as ground:
        planted(ground, "notes/note")
        tree = tree_of(ground.ws / "tree")
        out = tree_of(ground.out / "tree")
        (ground.ws / "link").symlink_to(out)
        ground.watch(ground.out)
        began = "until [ -e notes/begun ]; do sleep 0.01; done"
        writes = (
            f"for d in '{out}' tree link; do (: >$d/made; echo x >>$d/{FILE}); done 2>/dev/null"
        )
        first = shell(f": >notes/begin; {began}", {"timeout_ms": 10_000})
        with exchanging(ground):
            session = case.backend.run(
                [first, *[shell(writes)] * STARTS],
                root=ground.ws,
                profile="repo-write",
                policy=rules,
                on_unavailable="degrade",
            )
        session.need_enforcement()
        changes = ground.changes()
        inside = next(each for each in (tree, ground.ws / "link") if not each.is_symlink())
        denied = (inside / FILE).read_text()
        begun = (ground.ws / "notes/begun").exists()
    if changes:
        session.excuse("fs-write", changes[0])
    expect("changes outside the workspace", changes, [], verdict=Verdict.CONTRADICTION)
    if rules is RULES["a directory above a denied file"]:
        if denied != "canary\n":
            excuse_rule(session, f"tree/{FILE}", "fs-write", "the denied file is changed")
        expect("content of the denied file", denied, "canary\n", verdict=Verdict.CONTRADICTION)
    if not begun:
        raise Late("the exchanges begin", "before the first call ends", "never")
