"""Run libFuzzer as several jobs, one process each, on a common corpus.

A job ends at each finding, and is started again.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

from boxspec.fuzz import crash_report, seeds
from boxspec.fuzz.children import Child, end_all
from boxspec.fuzz.engine import INPUT_S, MEMORY_MB, SHIM_INPUT_S, Crash, Plan, Progress

# Matches `#1048576  pulse  cov: 100 ft: 300 corp: 20/1Kb lim: 4096 exec/s: 349525 rss: 60Mb`.
STATUS = re.compile(r"^#(\d+)\t.*?cov: (\d+) .*?corp: (\d+)/.*?exec/s: (\d+)", re.M)
# Matches the number of edges in the code.
EDGES = re.compile(r"\((\d+) inline 8-bit counters\)")
# Matches the exact number of executions, which libFuzzer prints at the end.
FINAL = re.compile(r"^stat::number_of_executed_units:\s*(\d+)$", re.M)
ARTIFACT = re.compile(r"Test unit written to (\S+)")
# Matches the last message of a target that cannot continue. For example its shim does not start.
GAVE_UP = re.compile(r"^boxspec-fuzz: (\S+ [^:\n]*)$", re.M)
# Exit statuses that mean a finding: error, timeout, out of memory.
FOUND = (77, 70, 71)
# A job ends after this number of starts, because it probably crashes on its first input each time.
MOST_STARTS = 40


class _Job:
    def __init__(self, number: int) -> None:
        self.number = number
        self.starts = 0
        self.asks_short = False  # True to run single requests first, without fuzzing.
        self.runs_before = 0
        self.now = Progress()
        self.child: Child | None = None
        self.why_ended: str | None = None


class LibFuzzer:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._corpus = plan.folder / "libfuzzer" / "corpus"
        self._found = plan.folder / "libfuzzer" / "found"
        self._jobs = [_Job(number) for number in range(plan.jobs)]
        self._new: list[Crash] = []
        self._short = plan.folder / "libfuzzer" / "short"
        # A shim often differs from the reference in many inputs. When a job starts again, it
        # ignores the known differences, so that the run can continue.
        self._known: dict[str, None] = dict.fromkeys(plan.ignored)
        self._of_edges: int | None = None

    def start(self) -> None:
        for folder in (self._corpus, self._found):
            folder.mkdir(parents=True, exist_ok=True)
        if self._plan.target.shim:
            inputs = seeds.makers()[self._plan.target.name]()
            seeds.write(inputs, self._short, seeds.LONGEST_ALONE)
        for job in self._jobs:
            job.asks_short = self._plan.target.shim
            self._start(job)

    def _argv(self, job: _Job) -> list[str | Path]:
        plan = self._plan
        argv: list[str | Path] = [
            plan.binary,
            # The seed is at least 1: with 0 libFuzzer would choose a random seed.
            f"-seed={plan.seed * 1000 + job.number * MOST_STARTS + job.starts + 1}",
            f"-max_len={seeds.LONGEST_ALONE if job.asks_short else plan.target.max_len}",
            f"-artifact_prefix={self._found}/",
            f"-timeout={SHIM_INPUT_S if plan.target.shim else INPUT_S}",
            f"-rss_limit_mb={MEMORY_MB}",
            "-print_final_stats=1",
            # If there are several jobs, each job loads the new inputs of the others.
            f"-reload={int(plan.jobs > 1)}",
        ]
        if plan.target.dictionary is not None:
            argv.append(f"-dict={plan.target.dictionary}")
        if job.asks_short:
            return [*argv, "-runs=0", self._short]
        return [*argv, self._corpus, *plan.seeds]

    def _start(self, job: _Job) -> None:
        log = self._plan.folder / f"libfuzzer-{job.number}.log"
        env = {**self._plan.environment, "BOXSPEC_FUZZ_KNOWN": ",".join(self._known)}
        job.child = Child(self._argv(job), env, self._plan.folder, log)
        job.starts += 1

    def progress(self) -> Progress:
        for job in self._jobs:
            self._poll(job)
        return Progress(
            sum(job.runs_before + job.now.runs for job in self._jobs),
            sum(job.now.per_second for job in self._jobs),
            max(job.now.inputs for job in self._jobs),
            max((job.now.edges for job in self._jobs if job.now.edges is not None), default=None),
            self._of_edges,
        )

    def inputs(self) -> int:
        folders = [folder for folder in (self._corpus, *self._plan.seeds) if folder.is_dir()]
        return sum(1 for folder in folders for _ in folder.iterdir())

    def _poll(self, job: _Job) -> None:
        child = job.child
        if child is None:
            return
        status = child.status
        output = child.output()
        lines = STATUS.findall(output)
        if self._of_edges is None and (edges_of := EDGES.search(output)) is not None:
            self._of_edges = int(edges_of[1])
        if lines:
            runs, edges, inputs, per_second = map(int, lines[-1])
            final = FINAL.search(output)
            if final is not None:
                runs = int(final[1])
            elif status is None:
                # libFuzzer prints a line only at powers of two. Between two lines, the number of
                # runs is estimated from the rate.
                runs = max(runs, int(per_second * (time.monotonic() - child.started)))
            job.now = Progress(runs, per_second, inputs, edges)
        if status is None:
            return
        job.child = None
        job.runs_before += job.now.runs
        job.now = Progress(inputs=job.now.inputs, edges=job.now.edges)
        if status == 0 and job.asks_short:
            job.asks_short = False
            self._start(job)
            return
        artifact = ARTIFACT.search(output)
        gave_up = GAVE_UP.search(output)
        if gave_up is not None:
            words = crash_report.SHIM.findall(output)
            job.why_ended = gave_up[1] + (f"; its stderr: {words[-1]}" if words else "")
            return
        if status not in FOUND or artifact is None:
            job.why_ended = f"status {status}: {last_line(output)}"
            return
        self._new.append(Crash(Path(artifact[1]), output))
        report = crash_report.read(output)
        if report is not None:
            self._known[report.key] = None
        if job.starts < MOST_STARTS:
            self._start(job)
        else:
            job.why_ended = f"it had {MOST_STARTS} findings"

    def crashes(self) -> list[Crash]:
        new, self._new = self._new, []
        return new

    def why_ended(self) -> str | None:
        if any(job.child is not None for job in self._jobs):
            return None
        return self._jobs[0].why_ended or "all jobs ended"

    def stop(self) -> None:
        end_all([job.child for job in self._jobs if job.child is not None])


def last_line(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"
