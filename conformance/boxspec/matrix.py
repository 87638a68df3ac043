"""Faults of the twin, each against the suite in a process of its own: what it meets, how often.

A fault is one realistic mistake over conformance/shims/python, kept in conformance/shims/faults
with the requirement that it breaks. It counts when that requirement fails, and none of another
topic does.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from boxspec.errors import HarnessError
from boxspec.programs import ROOT
from boxspec.requirements import load
from boxspec.verdict import BROKEN

SHIM = ROOT / "conformance" / "shims" / "faults" / "shim.py"
LIMIT_S = 900

# What each fault is tried with when --scope does not say: the cases of exec take seconds, those of
# policy or sbpl a few together.
SCOPES = {"exec": "focus", "policy": "all", "sbpl": "all"}
# A fault that two runs beside others missed has so many more, alone: some mistakes show at some
# moments only.
MORE_TRIES = 4

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


def run_quietly(words: list[str], folder: str, errors: str) -> None:
    """`boxspec WORDS` in this process, which was forked for it.

    What it complains of is in a file, and what it keeps goes away with the folder.
    """
    os.setsid()
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    null = os.open(os.devnull, os.O_RDWR)
    said = os.open(errors, os.O_WRONLY | os.O_APPEND)
    for number, instead in ((0, null), (1, null), (2, said)):
        os.dup2(instead, number)
    os.close(null)
    os.close(said)
    from boxspec.cli import main

    sys.exit(main(words))


class Runs:
    """The suite in processes of their own; all are ended when the user has enough.

    They are forked from one process that has imported what each of them needs: most runs of a
    fault take less time than those imports.
    """

    def __init__(self) -> None:
        self.running: set[BaseProcess] = set()
        self.lock = threading.Lock()
        self.stopped = False
        self.folder = Path(tempfile.mkdtemp(prefix="boxspec-faults-"))
        # Some cases run as another user.
        self.folder.chmod(0o711)
        self.forks = multiprocessing.get_context("forkserver")
        self.forks.set_forkserver_preload(["boxspec.warm"])

    def failing(self, fault: Fault, scope: list[str]) -> list[str]:
        """Requirements that fail with this fault; `scope` are words of `boxspec run`."""
        made = tempfile.NamedTemporaryFile(dir=self.folder, suffix=".json")
        errors = tempfile.NamedTemporaryFile(dir=self.folder, suffix=".stderr")
        with made, errors:
            words = ["run", "--shim", shim_of(fault), "--contract", fault.contract, *scope]
            words += ["--profile", "all", "--json", made.name]
            self._run(words, errors.name)
            text = Path(made.name).read_text(encoding="utf-8")
            told = Path(errors.name).read_text(encoding="utf-8", errors="replace")
        if not text:
            lines = told.strip().splitlines() or ["no output"]
            # What is kept, and where, is said behind the reason.
            said = [line for line in lines if line.startswith("boxspec: ")]
            raise HarnessError((said or lines)[-1])
        tree = json.loads(text)
        return [each["id"] for each in tree["requirements"] if each["verdict"] in CAUGHT]

    def _run(self, words: list[str], errors: str) -> None:
        process = self.forks.Process(target=run_quietly, args=(words, str(self.folder), errors))
        with self.lock:
            if self.stopped:
                raise KeyboardInterrupt
            process.start()
            self.running.add(process)
        try:
            process.join(LIMIT_S)
            if process.is_alive():
                process.terminate()
                process.join()
                raise HarnessError(f"not done after {LIMIT_S} s")
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


def of_requirement(fault: Fault) -> list[str]:
    """The words that ask whether the requirement that it breaks sees it; one failure is enough."""
    return ["--requirement", str(fault.requirement), "-x"]


def of_topics(topics: Iterable[str | None]) -> list[str]:
    """The words that choose the tests of these topics."""
    return [word for topic in sorted(filter(None, {*topics})) for word in ("--topic", topic)]


def judge(fault: Fault, runs: Runs, scope: str | None) -> Outcome:
    """A requirement of another topic counts when it fails twice: one failure may be the load's.

    The named one counts when it fails in one of two runs; `settle` gives it more.
    """
    scope = (scope or SCOPES.get(fault.contract, "all")) if fault.topic else "all"
    outcome = Outcome(fault, scope)
    words = {
        "all": [],
        "focus": ["--focus", str(fault.topic)],
        "own": of_topics([fault.topic]),
        "named": of_requirement(fault),
    }[scope]
    try:
        outcome.caught_by = runs.failing(fault, words)
        if fault.requirement and not outcome.named:
            try_again(outcome, runs)
        if outcome.blunt:
            ask_again(outcome, outcome.blunt, runs)
    except HarnessError as why:
        if fault.role == "control" and "not a conforming shim" in str(why):
            outcome.caught_by = ["trust checks"]
        else:
            outcome.problem = str(why)
    return outcome


def ask_again(outcome: Outcome, doubtful: list[str], runs: Runs) -> None:
    """What does not fail a second time is not counted."""
    again = runs.failing(outcome.fault, of_topics(load()[name].topic for name in doubtful))
    outcome.caught_by = [
        name for name in outcome.caught_by if name not in doubtful or name in again
    ]


def try_again(outcome: Outcome, runs: Runs) -> None:
    """The tests of its requirement once more."""
    outcome.tries += 1
    again = runs.failing(outcome.fault, of_requirement(outcome.fault))
    outcome.caught_by = sorted({*outcome.caught_by, *again})


def unsettled(outcome: Outcome) -> bool:
    """A fault that its requirement did not see and may see at another moment, or a no-op that the
    load beside it may have tripped."""
    if outcome.problem:
        return False
    if outcome.fault.role == "noop":
        return bool(outcome.caught_by)
    return bool(outcome.fault.requirement and not outcome.named)


def settle(outcome: Outcome, runs: Runs) -> None:
    """The last tries, with nothing beside them."""
    try:
        if outcome.fault.role == "noop":
            ask_again(outcome, outcome.caught_by, runs)
            return
        for _ in range(MORE_TRIES):
            try_again(outcome, runs)
            if outcome.named:
                return
    except HarnessError as why:
        outcome.problem = str(why)
