"""Run one trial: a target with a planted fault, an engine, a seed, and a limit of CPU time."""

from __future__ import annotations

import mmap
import os
import shutil
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from boxspec import folders
from boxspec.errors import HarnessError
from boxspec.fuzz import crash_report, targets
from boxspec.fuzz.afl import crashing, settings
from boxspec.fuzz.children import Child, end_all
from boxspec.fuzz.engine import INPUT_S, MEMORY_MB
from boxspec.fuzz.libfuzzer import STATUS, last_line
from boxspec.subject.observe import procs

MARKS = struct.Struct("=QQ")
LOOK_S = 0.05
# A trial's elapsed time may be this many times as long as its CPU time, because other programs use
# the processors too.
PATIENCE = 10


class NoTime(HarnessError):
    """Raised if the machine was too busy for a trial. The trial then says nothing about the
    fault."""


@dataclass(frozen=True)
class Trial:
    """The parameters of a trial. Results with equal parameters belong to the same trial."""

    fault: str
    target: str
    engine: str
    control: bool
    seed: int
    limit_s: float


@dataclass(frozen=True)
class Result:
    trial: Trial
    found: bool
    key: str
    cpu_s: float
    runs: int
    reached: int
    triggered: int

    def to_json(self) -> dict[str, Any]:
        fields = asdict(self)
        return {**fields.pop("trial"), **fields}

    @staticmethod
    def from_json(fields: dict[str, Any]) -> Result:
        names = Trial.__dataclass_fields__
        trial = Trial(**{name: fields.pop(name) for name in names})
        return Result(trial, **fields)


@contextmanager
def _marks(path: Path) -> Iterator[mmap.mmap]:
    """Create and map a file. In it the target counts how often it passes each mark."""
    path.write_bytes(bytes(MARKS.size))
    with path.open("r+b") as file, mmap.mmap(file.fileno(), MARKS.size) as mapped:
        yield mapped


def _cpu_s(pid: int) -> float:
    """Return the CPU time of a process, of its reaped children and of its living descendants."""
    ticks = 0
    for each in [pid, *(proc.pid for proc in procs.tree(pid))]:
        stat = procs.read(f"/proc/{each}/stat")
        if stat:
            ticks += sum(map(int, stat.rpartition(b")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


class Attempt:
    """Makes a trial in `folder`, with the seeds of the target."""

    def __init__(self, trial: Trial, binary: Path, env: dict[str, str], folder: Path) -> None:
        self.trial, self.binary, self.folder = trial, binary, folder
        self.target = targets.named(trial.target)
        marks = {"BOXSPEC_PLANTED": str(folder / "marks"), "TMPDIR": str(folder)}
        self.env = {**os.environ, **env, **marks}

    def make(self) -> Result:
        folders.delete(self.folder)
        self.folder.mkdir(parents=True)
        with _marks(self.folder / "marks") as marks:
            if self.trial.engine == "afl":
                key, cpu_s, runs = self._afl()
            else:
                key, cpu_s, runs = self._libfuzzer(leaks=True)
            reached, triggered = MARKS.unpack(marks[:])
        return Result(self.trial, key is not None, key or "", cpu_s, runs, reached, triggered)

    def _watch(self, argv: list[str | Path], env: dict[str, str], done: Any) -> tuple[str, float]:
        """Wait until the child ends, until `done` returns True, or until the CPU time is spent."""
        child = Child(argv, env, self.folder, self.folder / "log")
        until, cpu_s = time.monotonic() + PATIENCE * self.trial.limit_s, 0.0
        try:
            while child.status is None and not done() and cpu_s < self.trial.limit_s:
                if time.monotonic() > until:
                    raise NoTime(f"{self.trial.fault}: the machine is too busy for this trial")
                time.sleep(LOOK_S)
                cpu_s = max(cpu_s, _cpu_s(child.pid))
            by_itself = child.status is not None
        finally:
            end_all([child])
        output = child.output()
        if by_itself and not done() and crash_report.read(output) is None:
            raise HarnessError(f"{argv[0]} ended unexpectedly: {last_line(output)}")
        return output, cpu_s

    # libFuzzer ------------------------------------------------------------------------------

    def _libfuzzer(self, *, leaks: bool) -> tuple[str | None, float, int]:
        corpus = self.folder / "corpus"
        corpus.mkdir(exist_ok=True)
        argv: list[str | Path] = [
            self.binary,
            f"-seed={self.trial.seed}",
            f"-max_len={self.target.max_len}",
            f"-timeout={INPUT_S}",
            f"-rss_limit_mb={MEMORY_MB}",
            f"-detect_leaks={int(leaks)}",
            f"-artifact_prefix={self.folder}/",
        ]
        if self.target.dictionary is not None:
            argv.append(f"-dict={self.target.dictionary}")
        output, cpu_s = self._watch([*argv, corpus, *self.target.seeds], self.env, lambda: False)
        found = crash_report.read(output)
        leaked = found is not None and found.key.startswith("leak")
        if leaks and leaked and self.trial.control and "silenced" in output:
            # A silenced oracle is interrupted before it frees its memory. This is no leak of the
            # target, so the control does not detect leaks.
            return self._libfuzzer(leaks=False)
        lines = STATUS.findall(output)
        return (found.key if found else None), cpu_s, int(lines[-1][0]) if lines else 0

    # AFL++ ----------------------------------------------------------------------------------

    def _afl(self) -> tuple[str | None, float, int]:
        seeds, out = self.folder / "seeds", self.folder / "out"
        seeds.mkdir()
        (seeds / "0").write_bytes(b"0")
        files = [path for place in self.target.seeds for path in place.iterdir() if path.is_file()]
        falls = crashing(self.binary, files, self.env)
        if falls:
            return self._alone(falls[0]), 0.0, len(files)
        for path in files:
            if path.stat().st_size > 0:
                shutil.copyfile(path, seeds / path.name)
        env = {**self.env, **settings(self.target), "AFL_BENCH_UNTIL_CRASH": "1"}
        argv: list[str | Path] = ["afl-fuzz", "-i", seeds, "-o", out, "-s", str(self.trial.seed)]
        argv += ["-G", str(self.target.max_len), "-m", "none", "-t", str(INPUT_S * 100)]
        if self.target.dictionary is not None:
            argv += ["-x", self.target.dictionary]

        def crashed() -> bool:
            return any(out.glob("default/crashes/id:*"))

        _, cpu_s = self._watch([*argv, "--", self.binary], env, crashed)
        crashes = sorted(out.glob("default/crashes/id:*"))
        key = self._alone(crashes[0]) or "unstable" if crashes else None
        return key, cpu_s, self._executions(out / "default" / "fuzzer_stats")

    def _alone(self, path: Path) -> str | None:
        done = subprocess.run(
            [self.binary, path],
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=6 * INPUT_S,
        )
        if done.returncode == 0:
            return None
        found = crash_report.read(done.stderr.decode("utf-8", "replace"))
        return found.key if found else f"status {done.returncode}"

    def _executions(self, stats: Path) -> int:
        if not stats.exists():
            return 0
        for line in stats.read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "execs_done":
                return int(value)
        return 0
