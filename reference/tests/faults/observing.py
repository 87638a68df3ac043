"""Run one trial: send a request to the shim, let one call fail, and check what remains."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judging import dishonest
from trials import NO_FAULT, Fault, State, cases, furnish

PR_SET_CHILD_SUBREAPER = 36
# A run without a failure takes some milliseconds, and at most one grace period of 5 s.
LONGEST_S = 40.0
# The watcher of a bridge may live one second longer than the bridge. Killed processes end sooner.
SETTLE_S = 3.0


def adopt() -> None:
    """Become the parent of all orphans, so that no survivor is missed."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def living() -> list[int]:
    """Return the children that are alive, and reap those that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    return [
        int(word)
        for word in Path("/proc/self/task", str(os.getpid()), "children").read_text().split()
    ]


@dataclass(frozen=True)
class Seen:
    """The observations of a trial.

    `status` is negative for a shim that a signal ended, and None for one that hung.
    """

    status: int | None
    raw: bytes | None
    stdout: bytes
    stderr: str
    state: State
    survivors: tuple[str, ...]
    files: frozenset[str]

    @property
    def answer(self) -> dict[str, Any] | None:
        try:
            answer = json.loads(self.raw) if self.raw is not None else None
        except ValueError:
            return None
        return answer if isinstance(answer, dict) else None


def look(
    shim: Path, library: Path, case: str, fault: Fault | None, longest_s: float = LONGEST_S
) -> Seen:
    # Answers contain paths, so each trial uses the same folder.
    folder = Path(tempfile.gettempdir()) / f"boxspec-faults-{os.getpid()}"
    folder.mkdir()
    try:
        furnish(folder)
        request, response, state = folder / "request", folder / "response", folder / "told"
        request.write_text(json.dumps(cases(str(folder))[case]))
        state.write_bytes(fault.packed() if fault else NO_FAULT)
        (folder / "in").write_text("hello\n")
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder / "tmp"),
            "TMPDIR": str(folder / "tmp"),
            "LD_PRELOAD": str(library),
            "BOXSPEC_FAULT_FILE": str(state),
        }
        with (
            (folder / "in").open("rb") as stdin,
            (folder / "out").open("wb") as stdout,
            (folder / "err").open("wb") as stderr,
        ):
            child = subprocess.Popen(
                [shim, "run", request, response],
                env=environment,
                cwd=folder / "ws",
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        status = _awaited(child, longest_s)
        left = _survivors()
        raw = response.read_bytes() if response.exists() else None
        # The names of temporary files are random, so they are made equal before comparing.
        raw = re.sub(rb"boxspec-[A-Za-z0-9]{6}", b"boxspec-XXXXXX", raw) if raw else raw
        return Seen(
            status,
            raw,
            (folder / "out").read_bytes(),
            (folder / "err").read_text(errors="replace"),
            State.read(state),
            left,
            frozenset(path.relative_to(folder).as_posix() for path in folder.rglob("*")),
        )
    finally:
        shutil.rmtree(folder)


def _awaited(child: subprocess.Popen[bytes], longest_s: float) -> int | None:
    try:
        return child.wait(longest_s)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
        child.wait()
        return None


def _survivors() -> tuple[str, ...]:
    """Return descriptions of the processes left after the settling time, and kill them."""
    until = time.monotonic() + SETTLE_S
    while (left := living()) and time.monotonic() < until:
        # Wake up when a child ends. The timeout is for children that do not end.
        signal.sigtimedwait([signal.SIGCHLD], max(0.0, until - time.monotonic()))
    found = []
    while left:
        for pid in left:
            with contextlib.suppress(OSError):
                found.append(
                    Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
                )
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
        left = living()
    return tuple(found)


def findings(before: Seen, after: Seen, fault: Fault) -> list[str]:
    """Describe the promises that the trial broke; the list is empty if it kept all of them."""
    if not after.state.struck:
        return []
    found = [f"survivor: {who}" for who in after.survivors]
    new_files = after.files - before.files
    # If the call that removes the file fails, the shim has no other way to remove the file.
    if new_files and fault.kind != "remove":
        found.append(f"left behind: {', '.join(sorted(new_files))}")
    if after.status is None:
        return [*found, "hang: no end within the bound"]
    if after.status < 0:
        return [*found, f"crash: {signal.Signals(-after.status).name}"]
    if not after.state.ended:
        found.append("ended without its end")
    elif after.state.open > before.state.open:
        found.append(f"leak: {after.state.open - before.state.open} descriptors")
    elif after.state.unfreed > before.state.unfreed:
        found.append(f"leak: {after.state.unfreed - before.state.unfreed} allocations")
    return found + _of_the_answer(before, after)


def _of_the_answer(before: Seen, after: Seen) -> list[str]:
    if after.raw is None:
        if after.status == 0 or not after.stderr.strip():
            return [f"no answer and no word: status {after.status}"]
        return []
    answer = after.answer
    if answer is None:
        return [f"no JSON: {after.raw[:120]!r}"]
    if len({"result", "error", "unsupported"} & set(answer)) != 1:
        return [f"no answer: {sorted(answer)}"]
    if "error" in answer:
        wrong = answer["error"].get("kind") == "invalid_input" and after.status == 0
        return ["invalid_input with status 0"] if wrong else []
    if after.status != 0:
        return [f"a result with status {after.status}"]
    assert before.answer is not None
    difference = dishonest(before.answer, answer)
    whole = before.answer["result"] == answer["result"]
    if difference is None and whole and before.stdout != after.stdout:
        difference = f"{len(after.stdout)} bytes went through the bridge for {len(before.stdout)}"
    return [f"dishonest: {difference}"] if difference else []


def ended_as(before: Seen, after: Seen) -> str:
    """Return a word for the end of the trial, for the statistics."""
    if not after.state.struck:
        return "not-struck"
    if after.answer is None:
        return "no-answer"
    if "error" in after.answer:
        return "error"
    return "result"
