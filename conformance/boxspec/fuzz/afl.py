"""Run AFL++ as one main fuzzer and several secondary ones, which share one output folder."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from boxspec.fuzz import builds, crash_report
from boxspec.fuzz.children import Child, end_all
from boxspec.fuzz.engine import INPUT_S, Crash, Plan, Progress
from boxspec.fuzz.targets import Target

SETTINGS = {
    # AFL++ runs without a terminal and on machines that were not prepared for it.
    "AFL_NO_UI": "1",
    "AFL_NO_COLOR": "1",
    "AFL_SKIP_CPUFREQ": "1",
    "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1",
    # AFL++ is three times as fast if it is bound to a processor. If no processor is free, AFL++
    # runs unbound.
    "AFL_TRY_AFFINITY": "1",
    "AFL_FUZZER_STATS_UPDATE_INTERVAL": "1",
    # A new run continues the previous run.
    "AFL_AUTORESUME": "1",
    "AFL_FORKSRV_INIT_TMOUT": "30000",
}

# For shims, skip the calibration: it runs each seed several times, which would take longer than a
# whole turn.
AT_ONCE = {"AFL_NO_STARTUP_CALIBRATION": "1"}

DIFFERING_S = 10.0
# Matches escape sequences of colours. AFL++ prints some of them in spite of AFL_NO_COLOR.
COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def settings(target: Target) -> dict[str, str]:
    """Return the environment of AFL++.

    It names the mutator of the target, which AFL++ uses in addition to its own mutators.
    """
    library = builds.mutator(target)
    if library is None:
        return SETTINGS | AT_ONCE if target.shim else SETTINGS
    most = str(target.max_len)
    own = {"AFL_CUSTOM_MUTATOR_LIBRARY": str(library), "BOXSPEC_FUZZ_MOST_BYTES": most}
    return SETTINGS | own


def main_name() -> str:
    """Return the name of the main fuzzer.

    Machines that exchange inputs (fuzz/exchange) need different names.
    """
    return "main-" + re.sub(r"[^A-Za-z0-9]+", "-", platform.node())


def crashing(binary: Path, files: Sequence[Path], env: Mapping[str, str]) -> list[Path]:
    """Return the seeds that crash the target, because AFL++ would skip them silently."""

    def falls(some: Sequence[Path]) -> bool:
        argv = [binary, *some]
        quiet = subprocess.DEVNULL
        done = subprocess.run(argv, env=dict(env), stdin=quiet, stdout=quiet, stderr=quiet)
        return done.returncode != 0

    if not files or not falls(files):
        return []
    return [path for path in files if falls([path])]


def differing(
    binary: Path, files: Sequence[Path], env: Mapping[str, str], ignored: Sequence[str] = ()
) -> dict[str, Crash]:
    """Run all seeds, and return the new differences between shim and reference, by key.

    AFL++ needs a seed that does not crash the target. If many seeds show a difference, there is no
    such seed until the target ignores the known differences.
    """
    found: dict[str, Crash] = {}
    until = time.monotonic() + DIFFERING_S
    for path in files:
        while time.monotonic() < until:
            known = {"BOXSPEC_FUZZ_KNOWN": ",".join([*ignored, *found])}
            quiet = subprocess.DEVNULL
            argv = [binary, path]
            done = subprocess.run(
                argv, env={**env, **known}, stdin=quiet, stdout=quiet, stderr=subprocess.PIPE
            )
            output = done.stderr.decode("utf-8", "replace")
            report = crash_report.read(output)
            if report is None or report.key in found:
                break
            found[report.key] = Crash(path, output)
    return found


class Afl:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._out = plan.folder / "afl" / "out"
        self._seeds = plan.folder / "afl" / "seeds"
        self._names = [main_name(), *(f"secondary-{n}" for n in range(1, plan.jobs))]
        self._children: list[Child] = []
        self._new: list[Crash] = []
        self._seen: set[Path] = set()
        self._runs_before = 0

    def start(self) -> None:
        self._out.mkdir(parents=True, exist_ok=True)
        env = {**self._plan.environment, **settings(self._plan.target)}
        seeds = self._gather_seeds()
        if self._plan.target.shim:
            ignored = self._plan.ignored
            found = differing(self._plan.binary, seeds, env, ignored)
            self._new = [*found.values()]
            env["BOXSPEC_FUZZ_KNOWN"] = ",".join([*ignored, *found])
        else:
            self._new = [Crash(path) for path in crashing(self._plan.binary, seeds, env)]
        # Crashes that an earlier run saved are not new: their findings are reported and their
        # executions counted.
        self._seen.update(self._saved())
        self._runs_before = self._runs()
        for number, name in enumerate(self._names):
            log = self._plan.folder / f"afl-{number}.log"
            self._children.append(Child(self._argv(number, name), env, self._plan.folder, log))

    def _gather_seeds(self) -> list[Path]:
        """Copy all seeds to one folder.

        AFL++ requires that at least one seed is not empty.
        """
        shutil.rmtree(self._seeds, ignore_errors=True)
        self._seeds.mkdir(parents=True)
        (self._seeds / "0").write_bytes(b"0")
        for folder in self._plan.seeds:
            for path in folder.iterdir():
                if path.is_file() and path.stat().st_size > 0:
                    shutil.copyfile(path, self._seeds / f"{folder.parent.name}-{path.name}")
        return sorted(self._seeds.iterdir())

    def _argv(self, number: int, name: str) -> list[str | Path]:
        plan = self._plan
        argv: list[str | Path] = ["afl-fuzz", "-i", self._seeds, "-o", self._out]
        argv += ["-M" if number == 0 else "-S", name]
        argv += ["-s", str(plan.seed + number), "-G", str(plan.target.max_len), "-m", "none"]
        argv += ["-t", f"{INPUT_S * 1000 // 10}"]
        if plan.target.dictionary is not None:
            argv += ["-x", plan.target.dictionary]
        return [*argv, "--", plan.binary]

    def progress(self) -> Progress:
        all_stats = [self._stats(name) for name in self._names]
        return Progress(
            self._runs() - self._runs_before,
            sum(float(stats.get("execs_per_sec", 0)) for stats in all_stats),
            max(int(stats.get("corpus_count", 0)) for stats in all_stats),
            max(
                (int(stats["edges_found"]) for stats in all_stats if "edges_found" in stats),
                default=None,
            ),
            max(
                (int(stats["total_edges"]) for stats in all_stats if "total_edges" in stats),
                default=None,
            ),
        )

    def _runs(self) -> int:
        return sum(int(self._stats(name).get("execs_done", 0)) for name in self._names)

    def inputs(self) -> int:
        queues = [self._out / name / "queue" for name in self._names]
        kept = [sum(1 for _ in queue.glob("id:*")) for queue in queues]
        # In the first run the queue is empty, and AFL++ will copy the seeds into it. So the seeds
        # are counted.
        return max(kept) or sum(1 for folder in self._plan.seeds for _ in folder.iterdir())

    def _stats(self, name: str) -> dict[str, str]:
        try:
            text = (self._out / name / "fuzzer_stats").read_text()
        except OSError:
            return {}
        pairs = (line.partition(":") for line in text.splitlines())
        return {key.strip(): value.strip() for key, _, value in pairs if value.strip()}

    def _saved(self) -> list[Path]:
        found: list[Path] = []
        for kind in ("crashes", "hangs"):
            found += sorted(self._out.glob(f"*/{kind}/id:*"))
        return found

    def crashes(self) -> list[Crash]:
        saved = [path for path in self._saved() if path not in self._seen]
        self._seen.update(saved)
        new, self._new = self._new, []
        return [*new, *(Crash(path, sure=path.parent.name != "hangs") for path in saved)]

    def why_ended(self) -> str | None:
        if any(child.status is None for child in self._children):
            return None
        output = COLOUR.sub("", self._children[0].output()).replace("\r", "\n")
        lines = [line for line in output.splitlines() if "PROGRAM ABORT" in line or "[-]" in line]
        return lines[-1].strip() if lines else f"status {self._children[0].status}"

    def stop(self) -> None:
        end_all(self._children)
