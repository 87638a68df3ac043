"""Runs of the suite against faults, each in a separate process."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from boxspec import folders
from boxspec.errors import HarnessError
from boxspec.faults.fault import Fault, shim_of
from boxspec.judge.verdict import BROKEN
from boxspec.places import scratch

LIMIT_S = 900

# Verdicts that show a caught fault, spelled as in a result file.
CAUGHT = {verdict.value for verdict in BROKEN}

Main = Callable[[list[str]], int]


def run_quietly(main: Main, words: list[str], folder: str, errors: str) -> None:
    """Run `boxspec WORDS` by its function `main`, in a forked process.

    Error messages go to the file `errors`. Folders of cases are deleted together with `folder`.
    """
    os.setsid()
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    null = os.open(os.devnull, os.O_RDWR)
    error_fd = os.open(errors, os.O_WRONLY | os.O_APPEND)
    for number, instead in ((0, null), (1, null), (2, error_fd)):
        os.dup2(instead, number)
    os.close(null)
    os.close(error_fd)
    sys.exit(main(words))


def failing_requirements(tree: dict[str, Any], named: str | None) -> list[str]:
    """Return the requirements that fail.

    The requirement of a fault may be blocked, because the fault also breaks another requirement
    that it needs. It counts as failed if one of its own tests failed.
    """
    failed = {test["id"] for test in tree["tests"] if test["verdict"] in CAUGHT}
    return [
        each["id"]
        for each in tree["requirements"]
        if each["verdict"] in CAUGHT or (each["id"] == named and failed & {*each["tests"]})
    ]


class Runs:
    """Runs the suite in separate processes, and ends them all when the user interrupts.

    All processes are forked from one process that has imported the needed modules, because most
    runs take less time than the imports.
    """

    def __init__(self, main: Main, preload: Iterable[str] = ()) -> None:
        self.main = main
        self.running: set[BaseProcess] = set()
        self.lock = threading.Lock()
        self.stopped = False
        self.folder = folders.make(scratch())
        # Some cases run as another user, who must be able to enter the folder.
        self.folder.chmod(0o711)
        self.forks = multiprocessing.get_context("forkserver")
        self.forks.set_forkserver_preload([*preload, "boxspec.faults.preload"])

    def failing(self, fault: Fault, scope: list[str]) -> list[str]:
        """Return the requirements that fail with this fault.

        scope: options of `boxspec run` that select tests.
        """
        made = tempfile.NamedTemporaryFile(dir=self.folder, suffix=".json")
        errors = tempfile.NamedTemporaryFile(dir=self.folder, suffix=".stderr")
        with made, errors:
            words = ["run", "--shim", shim_of(fault), "--contract", fault.contract, *scope]
            words += ["--profile", "all", "--no-cache", "--json", made.name]
            self._run(words, errors.name)
            text = Path(made.name).read_text(encoding="utf-8")
            error_text = Path(errors.name).read_text(encoding="utf-8", errors="replace")
        if not text:
            lines = error_text.strip().splitlines() or ["no output"]
            # The first message has the reason. The lines after it name folders that were kept.
            messages = [line for line in lines if line.startswith("boxspec: ")]
            raise HarnessError((messages or lines)[-1])
        return failing_requirements(json.loads(text), fault.requirement)

    def _run(self, words: list[str], errors: str) -> None:
        process = self.forks.Process(
            target=run_quietly, args=(self.main, words, str(self.folder), errors)
        )
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
        folders.delete(self.folder)
