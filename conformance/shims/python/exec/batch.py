"""Several runs at the same time, each in its own thread.

The main thread installs the signal handlers for all of them.
"""

from __future__ import annotations

import _thread
import errno
import os
import select
from time import monotonic_ns

import exec.signals as signals
from errors import Failed, reason_of
from exec.run import Run
from exec.spawn import spawn_failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from exec.request import Item, Request
    from exec.signals import Watch
    from kinds import Mask, Object


class Batch:
    """Makes all runs and collects the answers.

    items: (after_ms, request, refusal) of each run.
    make: the class of a run. It decides the form of the answer.
    """

    def __init__(self, items: Sequence[Item], caller_mask: Mask, make: type[Run] = Run) -> None:
        self.items = items
        self.make = make
        self.caller_mask = caller_mask
        self.answers: dict[int, Object | Failed] = {}
        self.finished: list[tuple[int, Watch, Object | Failed]] = []
        self.active = 0
        # True if the kernel reaps the children. It is tested only once, after a sandbox has
        # accepted its request. Before the test it is None.
        self.lost: bool | None = None

    def run(self) -> list[Object | Failed]:
        try:
            self.waker = signals.Waker()
        except OSError as e:
            return [spawn_failure(item[1].program, reason_of(e)) for item in self.items]
        threads = count_threads()
        self.alone = threads == 1
        start = monotonic_ns()
        waiting = sorted(range(len(self.items)), key=lambda i: self.items[i][0], reverse=True)
        while waiting or self.active:
            now = monotonic_ns()
            while waiting and start + self.items[waiting[-1]][0] * 1_000_000 <= now:
                self.begin(waiting.pop())
            patience = None
            if waiting:
                due = start + self.items[waiting[-1]][0] * 1_000_000
                patience = max(0, -(-(due - monotonic_ns()) // 1_000_000))
            if self.active or waiting:
                self.wait(patience)
            while self.finished:
                self.finish(*self.finished.pop())
        self.waker.close()
        await_thread_ends(threads)
        return [self.answers[i] for i in range(len(self.items))]

    def wait(self, patience_ms: int | None) -> None:
        poll = select.poll()
        poll.register(self.waker.fd, select.POLLIN)
        poll.poll(patience_ms)
        self.waker.clear()

    def begin(self, i: int) -> None:
        """Start run number i.

        The contract fixes the order: the sandbox checks the request, the clock starts, the handlers
        are installed, and the thread of the run starts the child.
        """
        _, request, refusal = self.items[i]
        try:
            validate(refusal)
            if self.child_ends_are_lost():
                raise Failed("execution", f"wait timeout error: {os.strerror(errno.ECHILD)}")
            clock = monotonic_ns()
            watch = acquire_handlers(request)
        except Failed as failure:
            self.answers[i] = failure
            return
        self.active += 1
        try:
            _thread.start_new_thread(self.work, (i, request, watch, clock))
        except RuntimeError:
            # No thread can be created, for example because a filter refuses clone3, or because of
            # the process limit. A fork may still work, so the run is made in this thread. If the
            # fork fails too, its error is reported.
            self.work(i, request, watch, clock)

    def child_ends_are_lost(self) -> bool:
        if self.lost is None:
            self.lost = signals.child_ends_are_lost(self.alone)
        return self.lost

    def work(self, i: int, request: Request, watch: Watch, clock: int) -> None:
        try:
            answer: Object | Failed = self.make(request, watch, clock, self.caller_mask).result()
        except Failed as failure:
            answer = failure
        except Exception as bug:
            answer = Failed("io", f"{type(bug).__name__}: {bug}")
        self.finished.append((i, watch, answer))
        self.waker.wake()

    def finish(self, i: int, watch: Watch, answer: Object | Failed) -> None:
        signals.handlers.release(watch)
        self.active -= 1
        if isinstance(answer, dict):
            names = dict.fromkeys(signals.name_of(number) for number in watch.noted)
            answer["pending_signals"] = list(names)
        self.answers[i] = answer


def validate(refusal: str | None) -> None:
    if refusal is not None:
        raise Failed("policy_denied", refusal)


def acquire_handlers(request: Request) -> Watch:
    try:
        return signals.handlers.acquire()
    except signals.InstallError as e:
        raise Failed("execution", str(e)) from None
    except OSError as e:
        raise spawn_failure(request.program, reason_of(e)) from None


def count_threads() -> int:
    """Return the number of threads of this process; 0 if there is no /proc."""
    try:
        return len(os.listdir("/proc/self/task"))
    except FileNotFoundError:
        return 0


def await_thread_ends(expected: int) -> None:
    """Wait until the threads of the runs have disappeared.

    A thread that has reported its end still exists for a moment, and observers count threads.
    """
    until = monotonic_ns() + 100_000_000
    while count_threads() > expected and monotonic_ns() < until:
        os.sched_yield()
