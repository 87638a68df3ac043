"""Tests of runs where a control group or the user may have few processes."""

from __future__ import annotations

import os
import resource
import sys
import threading
from pathlib import Path

import pytest

from boxspec.errors import UsageError
from boxspec.mounts import Mount, cgroup_folders, least_limit
from boxspec.subject import process_limit
from selftest.tools import ROOT, run

# The exit status of ci/as-user if the other user cannot enter the checkout.
CLOSED = 69


def group(folder: Path, most: str, current: int) -> None:
    folder.mkdir(parents=True)
    (folder / "pids.max").write_text(f"{most}\n")
    (folder / "pids.current").write_text(f"{current}\n")


def test_the_strictest_group_counts(tmp_path: Path) -> None:
    group(tmp_path / "v2" / "service", "500", 100)
    group(tmp_path / "v2" / "service" / "own", "max", 20)
    group(tmp_path / "v1" / "container", "300", 50)
    mounted = [Mount(Path("/"), tmp_path / "v2"), Mount(Path("/engine"), tmp_path / "v1")]
    groups = ["/service/own", "/engine/container"]

    def least_left(*names: str) -> int | None:
        return least_limit(cgroup_folders(names, mounted), process_limit.left_in)

    assert least_left(*groups[:1]) == 400
    assert least_left(*groups) == 250
    assert least_left("/elsewhere") is None


def test_fewer_tests_run_in_parallel_where_processes_are_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def affordable(*left: int) -> int:
        given = [process_limit.Limit(each, "pids.max", "raise it") for each in left]
        monkeypatch.setattr(process_limit, "limits", lambda: given)
        return process_limit.affordable(32)

    assert [affordable(), affordable(10_000), affordable(460), affordable(500, 406)] == [
        32,
        32,
        10,
        1,
    ]
    with pytest.raises(UsageError, match="405 more processes and threads may run here"):
        affordable(10_000, 405)


@pytest.mark.parametrize(("most", "left"), [("400", 0), ("32768", 32268), ("x", None)])
def test_each_process_needs_a_number(
    most: str, left: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "read_text", lambda _: most)
    monkeypatch.setattr(os, "listdir", lambda _: [*map(str, range(200)), "self"])
    assert process_limit.left_of_numbers() == left


def test_threads_of_the_user_count_for_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (5000, 5000))
    monkeypatch.setattr(process_limit, "_is_first_user_namespace", lambda: False)
    before = process_limit.left_to_user()
    assert before is not None
    ends = threading.Event()
    more = [threading.Thread(target=ends.wait) for _ in range(400)]
    for each in more:
        each.start()
    after = process_limit.left_to_user()
    ends.set()
    assert after is not None
    # Other programs start and end processes too.
    assert before - after == pytest.approx(400, abs=200)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    assert process_limit.left_to_user() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="starts a program as another user")
def test_a_user_with_few_processes_gets_one_line(tmp_path: Path) -> None:
    few = ["prlimit", "--nproc=40", sys.executable, "-P", "-m", "boxspec"]
    done = run([ROOT / "ci" / "as-user", *few, "run", "--contract", "exec"])
    if done.returncode == CLOSED:
        pytest.skip("this checkout is closed to other users")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "ulimit -u: " in done.stderr and "a run needs 406" in done.stderr
