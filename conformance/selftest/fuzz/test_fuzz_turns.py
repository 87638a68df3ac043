"""Several targets in turn, and the file that their runs are written to."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from boxspec.errors import HarnessError, UsageError
from boxspec.fuzz import ledger, targets
from boxspec.fuzz.crash_report import Report
from boxspec.fuzz.engine import Progress
from boxspec.fuzz.findings import Finding
from boxspec.fuzz.ledger import Entry, Found, Ledger
from boxspec.fuzz.outcome import Outcome
from boxspec.fuzz.targets import Target
from boxspec.fuzz.turns import TURN_S, Turns
from selftest.tools import boxspec, run

NAMES = ["glob_diff", "path_norm", "eval_laws"]
CHOSEN = [targets.named(name) for name in NAMES]
ENTRY = Entry(
    at="2026-01-02T03:04:05Z",
    commit="c0ffee",
    dirty=False,
    target="path_norm",
    engine="libfuzzer",
    jobs=1,
    seed=1,
    wall_s=60.0,
    cpu_s=59.0,
    runs=1000,
    inputs_before=1,
    inputs_after=2,
    edges=3,
    ended_early=None,
    findings=(),
)


class Engines:
    """A fake engine that records the order of its calls.

    The target `name` crashes, or gets falsified answers.
    """

    def __init__(self, broken: str = "", lied_to: str = "", stops_after: int = 10**6) -> None:
        self.asked: list[tuple[str, int, float]] = []
        self.stopped: list[int] = []
        self._broken, self._lied_to, self._stops_after = broken, lied_to, stops_after

    def make(self, target: Target, seed: int, seconds: float) -> Outcome:
        self.asked.append((target.name, seed, seconds))
        if len(self.asked) >= self._stops_after:
            self.stopped.append(signal.SIGINT)
            seconds /= 2
        if target.name == self._broken:
            raise HarnessError("afl ended early: status 1")
        early, found = None, []
        if target.name == self._lied_to:
            early, seconds = "it found something 40 times", 0.1
            found = [Finding(target, Report("match", "wrong", "match"), Path("/kept"), 1)]
        return Outcome(found, Progress(100, 1.0, 7, 30), seconds, seconds, 5, 7, early)

    def run(self, path: Path, each_s: float) -> tuple[Turns, list[Finding]]:
        turns = Turns("libfuzzer", 1, 1, self.make)
        return turns, turns.run(CHOSEN, each_s, Ledger(path), self.stopped)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results.jsonl"


# Order of turns ---------------------------------------------------------------------------


def test_all_have_a_turn_before_one_has_two(path: Path) -> None:
    engines = Engines()
    engines.run(path, 1.5 * TURN_S)
    first = [(name, 1, TURN_S) for name in NAMES]
    assert engines.asked == [*first, *((name, 2, TURN_S / 2) for name in NAMES)]


def test_the_target_with_the_least_time_is_next(path: Path) -> None:
    for name, wall_s in (("glob_diff", 9.0), ("path_norm", 3.0)):
        Ledger(path).append(replace(ENTRY, target=name, wall_s=wall_s))
    engines = Engines()
    engines.run(path, 10)
    assert engines.asked == [("eval_laws", 1, 10), ("path_norm", 2, 7), ("glob_diff", 2, 1)]
    again = Engines()
    again.run(path, 10)
    assert again.asked == []


def test_the_time_of_another_engine_does_not_count(path: Path) -> None:
    Ledger(path).append(replace(ENTRY, engine="afl", wall_s=100))
    engines = Engines()
    engines.run(path, 10)
    assert {name for name, _, _ in engines.asked} == set(NAMES)


def test_an_interrupted_turn_counts_and_continues(path: Path) -> None:
    engines = Engines(stops_after=2)
    engines.run(path, 10)
    assert [(each.target, each.wall_s) for each in Ledger(path).entries()] == [
        ("glob_diff", 10),
        ("path_norm", 5),
    ]
    again = Engines()
    again.run(path, 10)
    assert again.asked == [("eval_laws", 1, 10), ("path_norm", 2, 5)]


def test_a_target_that_does_not_run_is_skipped_and_reported(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engines = Engines(broken="glob_diff")
    turns, _ = engines.run(path, 2 * TURN_S)
    assert [name for name, _, _ in engines.asked].count("glob_diff") == 1
    assert {each.target for each in Ledger(path).entries()} == {"path_norm", "eval_laws"}
    assert turns.left_out == ["glob_diff"]
    assert "glob_diff: afl ended early: status 1" in capsys.readouterr().err


def test_a_target_that_crashes_on_its_seeds_does_not_get_all_turns(path: Path) -> None:
    engines = Engines(lied_to="path_norm")
    _, found = engines.run(path, 10)
    assert [name for name, _, _ in engines.asked] == NAMES
    assert [each.report.key for each in found] == ["match"]
    (told,) = [each for each in Ledger(path).entries() if each.findings]
    assert told.findings == (Found("match", "wrong", "/kept"),)


# The file -----------------------------------------------------------------------------------


def test_a_line_that_is_no_result_is_named(path: Path) -> None:
    Ledger(path).append(ENTRY)
    with path.open("a") as out:
        out.write('{"at": "2026-01-02T03:04:05Z"')
    with pytest.raises(
        UsageError, match=rf"^{path}:2: is not a result of a run \(remove this line"
    ):
        Ledger(path).entries()


def test_a_full_disk_at_the_end_is_reported() -> None:
    with pytest.raises(UsageError, match="--results /dev/full: No space left on device"):
        Ledger(Path("/dev/full")).append(ENTRY)


def test_a_file_that_cannot_be_written_is_named_before_anything_runs(tmp_path: Path) -> None:
    done = boxspec("fuzz", "path_norm", "--results", tmp_path)
    assert done.returncode == 2
    assert done.stderr == f"boxspec: --results {tmp_path}: Is a directory (name another file)\n"


def test_the_file_itself_makes_no_tree_dirty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*words: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        assert run(["git", *who, *words], cwd=tmp_path).returncode == 0

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "first")
    monkeypatch.setattr(ledger, "ROOT", tmp_path)
    Ledger(tmp_path / "results.jsonl").append(ENTRY)
    commit, dirty = ledger.checkout(tmp_path / "results.jsonl")
    assert re.fullmatch("[0-9a-f]{40}", commit or "")
    assert not dirty
    (tmp_path / "other").write_text("")
    assert ledger.checkout(tmp_path / "results.jsonl") == (commit, True)


def test_the_sum_has_each_target_of_an_engine_and_each_finding_once(path: Path) -> None:
    lied = replace(ENTRY, target="glob_diff", wall_s=3700, findings=(Found("match", "no", "/k"),))
    for entry in (ENTRY, replace(ENTRY, wall_s=15.4, runs=1500), lied, lied):
        Ledger(path).append(entry)
    told = boxspec("fuzz", "--results", path, "--report").stdout.splitlines()
    width = max(map(len, targets.every()))
    assert (
        told[0] == f"{'glob_diff':{width}} · libfuzzer · 2h 3m, CPU 1m 58s · 2 k runs · 1 finding"
    )
    assert told[1:3] == ["  match: no", "    /k"]
    assert (
        f"{'path_norm':{width}} · libfuzzer · 1m 15s, CPU 1m 58s · 2.5 k runs · 0 findings" in told
    )
    assert f"{'shim_diff':{width}} · libfuzzer · no run yet" in told
    assert told[-1] == f"{'all':{width}} · libfuzzer · 2h 4m, CPU 3m 56s · 4.5 k runs · 1 finding"
    assert len(told) == len(targets.every()) + 3


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (["path_norm", "glob_raw"], "add --results FILE, which records how long each has run"),
        (["--every"], "add --results FILE, which records how long each has run"),
        (["--every", "path_norm"], "use only one of them"),
        (["--report"], "add --results FILE"),
        (["--every", "--replay", "x"], "name the one target of these inputs"),
        (["--report", "--results", "/nowhere"], "run boxspec fuzz with it first"),
    ],
)
def test_wrong_use_names_the_remedy(words: list[str], remedy: str) -> None:
    done = boxspec("fuzz", *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert f"({remedy})" in done.stderr


# With engines -------------------------------------------------------------------------------


# AFL++ needs some time to start, and longer if other programs use the core that it binds to.
@pytest.mark.parametrize(
    ("engine", "names", "each_s"),
    [("libfuzzer", ["path_norm", "glob_raw"], 2), ("afl", NAMES[1:2], 5)],
)
def test_runs_are_appended_until_each_target_has_its_time(
    engine: str, names: list[str], each_s: int, path: Path
) -> None:
    def fuzz(seconds: int) -> list[Entry]:
        flags = ["--engine", engine, "--time", f"{seconds}s"]
        work = path.parent / "work"
        done = boxspec("fuzz", *names, *flags, "--work", work, "--results", path)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
        return Ledger(path).entries()

    first = fuzz(each_s)
    assert [each.target for each in first] == names
    for each in first:
        assert each.engine == engine
        assert each_s <= each.wall_s < each_s + 2
        assert min(each.cpu_s, each.runs, each.inputs_after, each.edges or 0) > 0
        seeds = targets.named(each.target).seeds
        assert each.inputs_before == sum(len(list(folder.iterdir())) for folder in seeds)
    assert fuzz(each_s) == first
    more = fuzz(2 * each_s)[len(names) :]
    assert sorted(each.target for each in more) == sorted(names)
    assert {each.seed for each in more} == {2}
    if engine == "afl":
        # AFL++ counts executions over all runs of a folder; a run must report only its own.
        (stats,) = path.parent.glob("work/path_norm/afl/out/main-*/fuzzer_stats")
        (total,) = re.findall(r"^execs_done\s*: (\d+)$", stats.read_text(), re.M)
        assert int(total) == sum(each.runs for each in [*first, *more])


def test_a_signal_ends_the_turns_and_the_turn_is_kept(path: Path) -> None:
    words = [sys.executable, "-P", "-m", "boxspec", "fuzz", "--every", "--time", "1h"]
    flags = ["--work", str(path.parent / "work"), "--results", str(path)]
    with subprocess.Popen([*words, *flags], stdout=subprocess.PIPE, text=True) as process:
        log = path.parent / "work" / "glob_diff" / "libfuzzer-0.log"
        until = time.monotonic() + 60
        while not (log.exists() and "INITED" in log.read_text()) and time.monotonic() < until:
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 0, said
    (entry,) = Ledger(path).entries()
    assert entry.target == "glob_diff"
    assert 0 < entry.wall_s < 60
    assert entry.commit == run(["git", "rev-parse", "HEAD"]).stdout.strip()
