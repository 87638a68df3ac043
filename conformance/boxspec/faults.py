"""The verb `faults`: each fault of the twin against the suite, and who catches whom.

A fault is one realistic mistake over conformance/shims/python, kept in conformance/shims/faults
with the requirement that it breaks. It counts when that requirement fails, and none of another
topic does.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from _pytest.mark.expression import Expression

from boxspec.errors import HarnessError, UsageError
from boxspec.programs import ROOT
from boxspec.report.files import OutputFile
from boxspec.requirements import load
from boxspec.verdict import BROKEN

SHIM = ROOT / "conformance" / "shims" / "faults" / "shim.py"
LIMIT_S = 900

# What the verdicts of a result tree are called there.
CAUGHT = {verdict.value for verdict in BROKEN}


@dataclass
class Fault:
    id: str
    contract: str
    requirement: str | None
    role: str
    mistake: str
    seen: str

    @property
    def topic(self) -> str | None:
        return load()[self.requirement].topic if self.requirement else None


@dataclass
class Outcome:
    """What one fault met. `caught_by`: requirements that failed, and again when asked alone."""

    fault: Fault
    scope: str
    caught_by: list[str] = field(default_factory=list)
    tries: int = 1
    problem: str = ""

    @property
    def blunt(self) -> list[str]:
        """Requirements of other topics that failed too."""
        topic = self.fault.topic
        return [name for name in self.caught_by if topic and load()[name].topic != topic]

    @property
    def named(self) -> bool:
        return self.fault.requirement in self.caught_by

    @property
    def good(self) -> bool:
        if self.problem:
            return False
        if self.fault.role == "fault":
            return self.named and not self.blunt
        return bool(self.caught_by) == (self.fault.role == "control")

    @property
    def word(self) -> str:
        if self.problem:
            return "broken"
        if self.fault.role == "noop":
            return "caught" if self.caught_by else "quiet"
        if not self.caught_by:
            return "missed"
        if self.fault.role == "fault" and not self.named:
            return "by others"
        return "blunt" if self.blunt else "caught"

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.fault.id,
            "contract": self.fault.contract,
            "requirement": self.fault.requirement,
            "role": self.fault.role,
            "mistake": self.fault.mistake,
            "seen": self.fault.seen,
            "scope": self.scope,
            "caught": bool(self.caught_by),
            "caught_by": self.caught_by,
            "tries": self.tries,
            "other_topics": self.blunt,
            "problem": self.problem,
        }


def catalogue() -> list[Fault]:
    listed = subprocess.run(
        [interpreter(), "-I", "-S", str(SHIM), "--list"], capture_output=True, check=False
    )
    if listed.returncode != 0:
        raise HarnessError(f"{SHIM} --list: {listed.stderr.decode(errors='replace').strip()}")
    return [Fault(**entry) for entry in json.loads(listed.stdout)]


def interpreter() -> str:
    """A Python that cases which run as another user can reach too, where there is one."""
    own = Path(sys.executable).resolve()
    if all(os.stat(place).st_mode & 0o001 for place in (own, *own.parents)):  # noqa: PTH116
        return str(own)
    for folder in ("/usr/local/bin", "/usr/bin"):
        found = shutil.which("python3", path=folder)
        if found is None:
            continue
        told = subprocess.run(
            [found, "-I", "-S", "-c", "import sys; print(sys.version_info >= (3, 11))"],
            capture_output=True,
            check=False,
        )
        if told.stdout.strip() == b"True":
            return found
    return str(own)


def shim_of(fault: Fault) -> str:
    return shlex.join([interpreter(), "-I", "-S", str(SHIM), "--fault", fault.id])


class Runs:
    """The suite in processes of their own; all are ended when the user has enough."""

    def __init__(self) -> None:
        self.running: set[subprocess.Popen[bytes]] = set()
        self.lock = threading.Lock()
        self.stopped = False
        self.folder = Path(tempfile.mkdtemp(prefix="boxspec-faults-"))
        self.files = _files()

    def failing(self, fault: Fault, scope: list[str]) -> list[str]:
        """Requirements that fail with this fault; `scope` are words of `boxspec run`."""
        with tempfile.NamedTemporaryFile(dir=self.folder, suffix=".json") as made:
            words = ["run", "--shim", shim_of(fault), "--contract", fault.contract, *scope]
            words += ["--profile", "all", "--json", made.name]
            told = self._run([sys.executable, "-P", "-m", "boxspec", *words])
            text = Path(made.name).read_text(encoding="utf-8")
        if not text:
            raise HarnessError(told.decode(errors="replace").strip().splitlines()[-1])
        tree = json.loads(text)
        return [each["id"] for each in tree["requirements"] if each["verdict"] in CAUGHT]

    def of_topics(self, topics: Iterable[str]) -> list[str]:
        """The words that choose the test files of these topics."""
        stems = sorted({stem for topic in topics for stem in self.files[topic]})
        return ["-k", " or ".join(stems)]

    def _run(self, words: list[str]) -> bytes:
        with self.lock:
            if self.stopped:
                raise KeyboardInterrupt
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
            self.running.add(process)
        try:
            return process.communicate(timeout=LIMIT_S)[1] or b"no output"
        except subprocess.TimeoutExpired:
            process.terminate()
            process.communicate()
            raise HarnessError(f"not done after {LIMIT_S} s") from None
        finally:
            with self.lock:
                self.running.discard(process)

    def stop(self) -> None:
        with self.lock:
            self.stopped = True
            for process in self.running:
                process.terminate()

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def _files() -> dict[str, set[str]]:
    """The test files of each topic, by their stems: what -k can choose."""
    told = subprocess.run(
        [sys.executable, "-P", "-m", "boxspec", "list", "--json"], capture_output=True, check=False
    )
    if told.returncode != 0:
        raise HarnessError(told.stderr.decode(errors="replace").strip())
    files: dict[str, set[str]] = {}
    for each in json.loads(told.stdout)["requirements"]:
        stems = files.setdefault(load()[each["id"]].topic, set())
        stems |= {Path(test.partition("::")[0]).stem for test in each["tests"]}
    return files


def judge(fault: Fault, runs: Runs, scope: str) -> Outcome:
    """A requirement of another topic counts when it fails twice: one failure may be the load's.

    The named one counts when it fails in one of two runs: some mistakes show at some moments only.
    """
    scope = scope if fault.topic else "all"
    outcome = Outcome(fault, scope)
    words = {
        "all": [],
        "focus": ["--focus", str(fault.topic)],
        "own": runs.of_topics([fault.topic] if fault.topic else []),
    }[scope]
    try:
        outcome.caught_by = runs.failing(fault, words)
        if fault.requirement and not outcome.named:
            outcome.tries = 2
            again = runs.failing(fault, runs.of_topics([str(fault.topic)]))
            outcome.caught_by = sorted({*outcome.caught_by, *again})
        doubtful = outcome.caught_by if fault.role == "noop" else outcome.blunt
        if doubtful:
            again = runs.failing(fault, runs.of_topics({load()[name].topic for name in doubtful}))
            outcome.caught_by = [
                name for name in outcome.caught_by if name not in doubtful or name in again
            ]
    except HarnessError as why:
        if fault.role == "control" and "not a conforming shim" in str(why):
            outcome.caught_by = ["trust checks"]
        else:
            outcome.problem = str(why)
    return outcome


def line(outcome: Outcome) -> str:
    said = f"{outcome.word:9} {outcome.fault.id:45} {outcome.fault.requirement or '-':16}"
    if outcome.problem:
        return f"{said} {outcome.problem}"
    others = [name for name in outcome.caught_by if name != outcome.fault.requirement]
    if outcome.tries > 1:
        said += " (second try)"
    shown = " ".join(others[:8]) + (f" and {len(others) - 8} more" if len(others) > 8 else "")
    return f"{said} {shown}".rstrip()


def summary(outcomes: list[Outcome]) -> dict[str, int]:
    faults = [each for each in outcomes if each.fault.role == "fault"]
    return {
        "faults": len(faults),
        "caught": sum(bool(each.caught_by) for each in faults),
        "by_named_requirement": sum(each.named for each in faults),
        "blunt": sum(bool(each.blunt) for each in faults),
        "broken": sum(bool(each.problem) for each in outcomes),
    }


def closing(outcomes: list[Outcome], wanted: int, scope: str) -> str:
    count = summary(outcomes)
    parts = [
        f"faults {count['faults']}",
        f"caught {count['caught']}",
        f"by the requirement they break {count['by_named_requirement']}",
        f"also by another topic {'not looked at' if scope == 'own' else count['blunt']}",
    ]
    parts += [
        f"{each.fault.role} {'caught' if each.caught_by else 'not caught'}"
        for each in outcomes
        if each.fault.role != "fault"
    ]
    if len(outcomes) < wanted:
        parts.append(f"not finished {wanted - len(outcomes)}")
    return " · ".join(parts)


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError("boxspec faults", message, "boxspec faults --help says what there is")


def parse(words: Sequence[str]) -> argparse.Namespace:
    made = Parser(
        prog="boxspec faults",
        description="Every fault of the twin against the suite: who catches whom.",
        epilog="exit codes: 0 each fault is caught by the requirement it breaks and by none of"
        " another topic, the control is caught, the no-op is not; 1 otherwise; 2 usage, or ended"
        " before all were finished.",
    )
    add = made.add_argument
    add("--json", metavar="FILE", help="the matrix, for programs")
    add(
        "-k",
        metavar="EXPR",
        help="only faults whose id matches, as in pytest: 'kill and not zombies'",
    )
    add("--only", action="append", metavar="ID", help="only this fault (repeatable)")
    add("-j", dest="jobs", type=int, default=2, metavar="N", help="faults at once (default 2)")
    add(
        "--scope",
        choices=("own", "focus", "all"),
        default="focus",
        help="what each fault is tried with: the tests of its own topic; these and one of each"
        " other requirement (default); every test",
    )
    args = made.parse_args(words)
    if args.jobs < 1:
        raise UsageError(f"-j {args.jobs}", "is no number from 1 up", "e.g. -j 2")
    return args


class _Named:
    """What -k asks: does this word stand in the id?"""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, word: str, /, **_: Any) -> bool:
        return word in self.name


def choose(every: list[Fault], only: list[str] | None, expression: str | None) -> list[Fault]:
    for name in only or ():
        if name not in {fault.id for fault in every}:
            raise UsageError(f"--only {name}", "no such fault", f"{SHIM} --list names them")
    chosen = [fault for fault in every if not only or fault.id in only]
    if expression:
        try:
            matches = Expression.compile(expression)
        except SyntaxError as why:
            raise UsageError(f"-k {expression}", str(why), "words, and, or, not") from None
        chosen = [fault for fault in chosen if matches.evaluate(_Named(fault.id))]
    if not chosen:
        raise UsageError("the selection", "no fault is left", "check -k and --only")
    return chosen


def main(words: Sequence[str]) -> int:
    args = parse(words)
    output = OutputFile("--json", args.json) if args.json else None
    chosen = choose(catalogue(), args.only, args.k)
    outcomes: list[Outcome] = []
    runs = Runs()
    pool = ThreadPoolExecutor(args.jobs)
    # Also where a shell has started this in the background with SIGINT ignored, and for SIGTERM:
    # the runs are in sessions of their own and would go on without us.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        futures = [pool.submit(judge, fault, runs, args.scope) for fault in chosen]
        for future in as_completed(futures):
            outcomes.append(future.result())
            print(line(outcomes[-1]), flush=True)
    except KeyboardInterrupt:
        print("boxspec: interrupted; what was finished is above", file=sys.stderr)
    finally:
        runs.stop()
        pool.shutdown(cancel_futures=True)
        runs.close()
    order = {fault.id: place for place, fault in enumerate(chosen)}
    outcomes.sort(key=lambda each: order[each.fault.id])
    if output is not None:
        tree = {
            "schema": "boxspec-faults/1",
            "scope": args.scope,
            "faults": [each.to_json() for each in outcomes],
            "summary": summary(outcomes),
        }
        output.write(json.dumps(tree, indent=2) + "\n")
    print(closing(outcomes, len(chosen), args.scope))
    if len(outcomes) < len(chosen):
        return 2
    return 0 if all(each.good for each in outcomes) else 1
