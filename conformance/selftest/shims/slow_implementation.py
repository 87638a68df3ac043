#!/usr/bin/env -S python3 -I -S
"""A slow Python implementation: slow_implementation.py HOW[=N]... -- run REQUEST RESPONSE | serve

deadline=MS  checks each deadline this much later
end=MS       returns this much later from a run of slow-exit
start=MS     starts this much later
burn=N       keeps N processors busy while the shim lives
hang         does not return from a run of slow-exit
starve=N     hangs at its start if its user may have fewer than N processes
lack=N       the same, but only if a program is to be started
tick=MS      declares this tick
stop         stops its warden
kill         kills its warden
leave        kills its warden, and leaves a process without an environment in its own session
runtime=MS   first changes its mask, dispositions, limit of files and descriptors, and starts this
             much later; a child has the original limit of files
forge        reports its own end a second early, in the name of its warden
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "shims", "python"))

import constants
import exec.run as run
import exec.spawn as spawn
from protocol import main


def deadline(ms: int) -> None:
    original = run.Run.begin_deadline

    def begin_deadline(self: Any) -> None:
        original(self)
        if self.deadline is not None:
            self.deadline += ms * 1_000_000

    run.Run.begin_deadline = begin_deadline  # type: ignore[method-assign]


def before_report(act: Callable[[], object]) -> None:
    original = run.Run.report

    def report(self: Any, cause: Any) -> Any:
        if self.request.program.endswith(b"slow-exit"):
            act()
        return original(self, cause)

    run.Run.report = report  # type: ignore[method-assign]


def end(ms: int) -> None:
    before_report(lambda: time.sleep(ms / 1000))


def start(ms: int) -> None:
    time.sleep(ms / 1000)


BURNING: list[int] = []


def burn(processors: int) -> None:
    # Processes are used, because the threads of one interpreter take turns and would keep only one
    # processor busy.
    parent = os.getpid()
    for _ in range(processors):
        pid = os.fork()
        if pid == 0:
            while os.getppid() == parent:
                pass
            os._exit(0)
        BURNING.append(pid)


def put_out() -> None:
    for pid in BURNING:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def hang(_: int) -> None:
    before_report(lambda: time.sleep(3600))


def starve(processes: int) -> None:
    most = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    if 0 <= most < processes:
        time.sleep(3600)


def lack(processes: int) -> None:
    original = run.Run.spawn

    def spawn(self: Any) -> None:
        starve(processes)
        original(self)

    run.Run.spawn = spawn  # type: ignore[method-assign]


def tick(ms: int) -> None:
    constants.TICK_NS = ms * 1_000_000


def stop(_: int) -> None:
    os.kill(os.getppid(), signal.SIGSTOP)


def kill(_: int) -> None:
    os.kill(os.getppid(), signal.SIGKILL)


def leave(_: int) -> None:
    # The duration is unique and identifies this process.
    subprocess.Popen(["/bin/sleep", "86321"], env={}, start_new_session=True)
    kill(0)


def runtime(ms: int) -> None:
    time.sleep(ms / 1000)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    signal.signal(signal.SIGUSR1, lambda *_: None)
    for number in (signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    restore = spawn.Spawn.reset_signals

    def reset_signals(self: Any) -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        restore(self)

    spawn.Spawn.reset_signals = reset_signals  # type: ignore[method-assign]
    with contextlib.suppress(OSError):
        os.set_inheritable(9, False)


def forge(_: int) -> None:
    def report() -> None:
        try:
            pipe = os.open(f"/proc/{os.getppid()}/fd/4", os.O_WRONLY)
        except OSError:
            return
        os.write(pipe, f"exit {os.getpid()} exited 0 {time.monotonic_ns() - 10**9}\n".encode())

    before_report(report)


if __name__ == "__main__":
    at = sys.argv.index("--")
    for word in sys.argv[1:at]:
        name, _, value = word.partition("=")
        if "run" in sys.argv[at + 1 :] or name in ("tick", "runtime"):
            globals()[name](int(value or 0))
    del sys.argv[1 : at + 1]
    status = main()
    put_out()
    os._exit(status)
