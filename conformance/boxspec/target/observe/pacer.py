"""The control for upper time bounds: how late this machine was while a case ran."""

from __future__ import annotations

import os
import statistics
import threading
import time
from dataclasses import dataclass

from boxspec.errors import HarnessError
from boxspec.programs import programs
from boxspec.target.observe.lines import LineReader
from boxspec.target.observe.warden import spawn

PERIOD_MS = 50
BASE_MS = 100.0
FACTOR = 5.0


@dataclass(frozen=True)
class Sample:
    t_ns: int
    lateness_ns: int


class Pacer:
    """The fixture `pacer` for the length of a session; its samples are kept."""

    def __init__(self) -> None:
        self._samples: list[Sample] = []
        self._news = threading.Condition()
        self._ended = False
        stdin_r, self._stdin = os.pipe2(os.O_CLOEXEC)
        self._stdout, stdout_w = os.pipe2(os.O_CLOEXEC)
        try:
            self._pid = spawn(
                [programs.pacer, "--period-ms", str(PERIOD_MS)],
                os.environ,
                {0: stdin_r, 1: stdout_w, 2: 2},
            )
        finally:
            os.close(stdin_r)
            os.close(stdout_w)
        self._thread = threading.Thread(target=self._read, name="pacer", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        reader = LineReader(self._stdout)
        while not reader.eof:
            for line in reader.wait(3600):
                words = line.split()
                with self._news:
                    self._samples.append(Sample(int(words[0]), int(words[1])))
                    self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def lateness_ms(self, t0_ns: int, t1_ns: int) -> float:
        """The worst lateness of [t0, t1], the period after it included."""
        # A sample covers the period before it: wait for the first one past the interval.
        with self._news:
            came = self._news.wait_for(
                lambda: self._ended or (self._samples and self._samples[-1].t_ns > t1_ns), 5
            )
            if self._ended:
                raise HarnessError("the pacer ended before the session")
            inside = [
                sample.lateness_ns
                for sample in self._samples
                if t0_ns <= sample.t_ns and sample.t_ns - sample.lateness_ns <= t1_ns + 10**8
            ]
        # A pacer that is stuck is the worst lateness of all.
        stuck = 0 if came else time.monotonic_ns() - t0_ns
        return max([stuck, 0, *inside]) / 1e6

    def allowance_ms(self, t0_ns: int, t1_ns: int) -> float:
        return BASE_MS + FACTOR * self.lateness_ms(t0_ns, t1_ns)

    def close(self) -> None:
        os.close(self._stdin)
        self._thread.join(5)
        os.waitpid(self._pid, 0)
        os.close(self._stdout)


def median_spawn_ms(rounds: int = 21) -> float:
    """Median of a bare posix_spawn and wait of a static program, now."""
    took = []
    null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
    try:
        for _ in range(rounds):
            start = time.perf_counter_ns()
            pid = spawn([programs.exit_with, "0"], os.environ, {0: null, 1: null, 2: null})
            os.waitpid(pid, 0)
            took.append(time.perf_counter_ns() - start)
    finally:
        os.close(null)
    return statistics.median(took) / 1e6
