"""Run a bench that has one driver and one table."""

import argparse
import dataclasses
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from harness import report
from harness.figures import CouldNotRun, Row

ROOT = Path(__file__).resolve().parents[4]


def arguments(about: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run", description=about)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows there as well")
    parser.add_argument(
        "--build-dir",
        type=Path,
        metavar="DIR",
        default=ROOT / "build" / "bench",
        help="where to build (default: build/bench)",
    )
    chosen = parser.parse_args()
    if chosen.json is not None and not chosen.json.absolute().parent.is_dir():
        parser.error(f"--json {chosen.json}: no such folder")
    return chosen


def quietly(argv: Sequence[str | Path], what: str) -> None:
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-20:])
        raise CouldNotRun(f"{what} failed:\n{tail}")


def driver(name: str, folder: Path) -> Path:
    for tool in ("cmake", "ninja"):
        if shutil.which(tool) is None:
            raise CouldNotRun(f"no {tool}; ci/setup installs it")
    target = f"boxspec-bench-{name}"
    quietly(["cmake", "--preset", "release", "-B", folder, "-DBOXSPEC_TESTS=OFF"], "cmake")
    quietly(["cmake", "--build", folder, "--target", target], "the build")
    return folder / "reference/bench" / target


def main(name: str, about: str | None, measure: Callable[[Path, bool], list[Row]]) -> int:
    """Return the exit status: 0, or 1 if something could not be run."""
    chosen = arguments(about)
    load = os.getloadavg()[0]
    try:
        rows = measure(driver(name, chosen.build_dir.absolute()), chosen.quick)
    except CouldNotRun as error:
        print(f"run: {error}", file=sys.stderr)
        return 1
    machine = report.machine(load)
    print(report.table(rows))
    goals = [row.met for row in rows if row.met is not None]
    print(
        f"{sum(goals)} of {len(goals)} goals met; {machine['cpus']} CPUs, "
        f"kernel {machine['kernel']}, load {load:.1f} before, {machine['load_after']:.1f} after"
    )
    if chosen.json is not None:
        document = {"bench": name, "quick": chosen.quick, "machine": machine}
        document["rows"] = [dataclasses.asdict(row) for row in rows]
        chosen.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 0
