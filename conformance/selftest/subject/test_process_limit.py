"""Tests of runs where a control group limits the number of processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from boxspec.errors import UsageError
from boxspec.mounts import Mount
from boxspec.subject import process_limit


def group(folder: Path, most: str, current: int) -> None:
    folder.mkdir(parents=True)
    (folder / "pids.max").write_text(f"{most}\n")
    (folder / "pids.current").write_text(f"{current}\n")


def test_the_strictest_group_counts(tmp_path: Path) -> None:
    group(tmp_path / "v2" / "service", "500", 100)
    group(tmp_path / "v2" / "service" / "own", "max", 20)
    group(tmp_path / "v1" / "container", "300", 50)
    mounted = [Mount(Path("/"), tmp_path / "v2"), Mount(Path("/engine"), tmp_path / "v1")]
    groups = [Path("/service/own"), Path("/engine/container")]
    assert process_limit.least_left(groups[:1], mounted) == 400
    assert process_limit.least_left(groups, mounted) == 250
    assert process_limit.least_left([Path("/elsewhere")], mounted) is None


def test_fewer_tests_run_in_parallel_where_processes_are_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def affordable(left: int | None) -> int:
        monkeypatch.setattr(process_limit, "processes_left", lambda: left)
        return process_limit.affordable(32)

    assert [affordable(left) for left in (None, 10_000, 460, 406)] == [32, 32, 10, 1]
    with pytest.raises(UsageError, match="405 more processes and threads may run here"):
        affordable(405)
