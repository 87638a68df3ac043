"""One run: start the child, wait for the first cause to end it, end the group, report the result.

Each run has its own thread, which sleeps in one poll on the run's pipes, the pidfd of the child and
the pipe of the signal handlers. When the thread wakes, it moves bytes once, and checks for a cause
once. So neither much output nor a payload that blocks can delay a deadline or a signal.
"""

from __future__ import annotations

import _signal
import errno
import os
import select
from time import monotonic_ns

import constants
import exec.signals as signals
import exec.text as text
from errors import Failed, reason_of
from exec.group import Ending, proc_is_ours
from exec.redact import secrets
from exec.spawn import Spawn, caller_environment
from exec.streams import Input, Output
from exec.tee import Tee
from exec.terminal import Terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from exec.group import End
    from exec.request import Request
    from kinds import Mask, Object

KILL_NS = 1_000_000_000
LINGER_NS = 1_000_000_000
LONGEST_POLL_MS = 3_600_000

TIMED_OUT = "process timed out"
INTERRUPTED = "process interrupted by signal {}"
STOPPED = "process stopped by signal {}"


class Cause:
    def __init__(self, name: str, signal: int = 0) -> None:
        self.name = name
        self.signal = signal


class Run:
    def __init__(
        self, request: Request, watch: signals.Watch, clock: int, caller_mask: Mask
    ) -> None:
        self.request = request
        self.watch = watch
        self.clock = clock
        self.caller_mask = caller_mask
        self.outputs: list[Output] = []
        self.input = Input(-1, b"")
        self.terminal = Terminal(-1)
        self.tee: Tee | None = None
        self.deadline: int | None = None
        self.end: End | None = None  # how the leader ended: (si_code, si_status)
        self.detached = False
        self.killed_writers = False
        self.unfinished: list[str] = []  # streams that killed or detached writers held
        # after SIGKILL: if members still run at this time, the run no longer waits for them
        self.given_up: int | None = None
        self.group_left = 0

    def result(self) -> Object:
        signals.handlers.collect()
        if self.watch.noted:
            return self.report(Cause("parent_signal", self.watch.noted.pop(0)))
        self.spawn()
        try:
            cause = self.await_cause()
            self.end_group(cause)
            self.drain()
            self.reap()
        except ChildProcessError as e:
            self.group.kill_by_pidfd()
            raise Failed("execution", f"wait timeout error: {reason_of(e)}") from None
        finally:
            self.close()
        return self.report(self.final(cause))

    def spawn(self) -> None:
        inherits = self.request.stdin == "inherit"
        self.terminal = Terminal(self.request.stdin_from if inherits else -1)
        self.terminal.lend()
        try:
            child = Spawn(self.request, self.caller_mask, self.terminal).start()
        except Failed:
            self.terminal.take_back()
            raise
        self.spawned_at = child.spawned_at
        self.begin_deadline()
        self.mask = signals.hold_sigpipe()
        self.group = child.group
        self.ending = Ending(self.group)
        cap = self.request.max_output_bytes
        self.outputs = [Output("stdout", child.stdout, cap), Output("stderr", child.stderr, cap)]
        if isinstance(self.request.stdin, bytes):
            self.input = Input(child.stdin, self.request.stdin)
        if self.request.debug:
            self.tee = Tee(secrets(caller_environment(), dict(self.request.env or ())))

    def begin_deadline(self) -> None:
        if self.request.timeout_ms is not None:
            self.deadline = self.spawned_at + self.request.timeout_ms * 1_000_000

    def look(self) -> Cause | None:
        """Return the cause that ends the run, or None.

        If there are several causes, the order of these checks decides.
        """
        self.end = self.end or self.group.leader_end()
        signals.handlers.collect()
        if self.input.failure and self.request.stdin_failure == "error":
            return Cause("stdin")
        if self.watch.noted:
            return Cause("parent_signal", self.watch.noted.pop(0))
        if any(output.over for output in self.outputs):
            return Cause("cap")
        if self.end:
            return Cause("exit")
        if stopped := self.terminal.check_stop(self.group):
            return Cause("stop", stopped)
        if self.deadline is not None and monotonic_ns() >= self.deadline:
            return Cause("timeout")
        return None

    def await_cause(self) -> Cause:
        while not (cause := self.look()):
            self.turn(self.deadline)
        return cause

    def turn(self, until: int | None) -> set[int]:
        """Sleep until an event, at most until the time `until`. Then read and write each stream
        once."""
        poll = select.poll()
        for fd, events in self.interests():
            if fd >= 0:
                poll.register(fd, events)
        ready = {fd for fd, _ in poll.poll(self.patience_ms(until))}
        for output in self.outputs:
            if output.fd in ready:
                self.take(output)
        if self.input.fd in ready:
            self.input.write()
        if self.tee and self.tee.fd in ready:
            self.tee.write()
        if self.watch.waker.fd in ready:
            self.watch.waker.clear()
        signals.handlers.collect()
        return ready

    def interests(self) -> Iterator[tuple[int, int]]:
        for output in self.outputs:
            yield output.fd, select.POLLIN
        yield self.input.fd, select.POLLOUT
        yield self.watch.waker.fd, select.POLLIN
        yield signals.handlers.read_fd, select.POLLIN
        yield self.ending.fd, select.POLLIN
        if not self.end:  # an ended leader keeps the pidfd readable, so it is not polled any more
            yield self.group.pidfd, select.POLLIN
        if self.tee and self.tee.queue:
            yield self.tee.fd, select.POLLOUT

    def patience_ms(self, until: int | None) -> int | None:
        # No descriptor reports that a process was stopped. So this is checked at each tick.
        if (self.group.pidfd < 0 or self.terminal.inherited) and not self.end:
            tick = monotonic_ns() + constants.TICK_NS
            until = tick if until is None else min(until, tick)
        if until is None:
            return None
        # The time is rounded up. Otherwise poll would return slightly early again and again until
        # the deadline.
        return min(max(0, -(-(until - monotonic_ns()) // 1_000_000)), LONGEST_POLL_MS)

    def take(self, output: Output) -> None:
        chunk = output.read()
        if self.tee and chunk:
            self.tee.feed(output.name, chunk)

    # Ending.

    def end_group(self, cause: Cause) -> None:
        """End the group in the way that the cause requires. No member must be left running."""
        if cause.name == "exit":
            self.end_after_exit()
        elif cause.name == "cap":
            self.kill()
        else:
            self.terminate(cause)

    def end_after_exit(self) -> None:
        self.input.write()  # the child may have read from the pipe just before its exit
        held = [output for output in self.outputs if output.has_writer()]
        self.group.kill()
        if held:
            self.await_end(monotonic_ns() + KILL_NS, again=self.group.kill)
            self.unfinished = [output.name for output in held if not output.has_writer()]
            self.killed_writers = bool(self.unfinished)

    def terminate(self, cause: Cause) -> None:
        self.first_signal(cause)
        # The clock is read after the signal was sent, so that a delay does not shorten the grace
        # period.
        if not self.await_end(monotonic_ns() + constants.GRACE_NS) or not proc_is_ours():
            self.kill()

    def first_signal(self, cause: Cause) -> None:
        interrupted = cause.name == "parent_signal"
        self.group.signal(cause.signal if interrupted else _signal.SIGTERM)
        self.group.signal(_signal.SIGCONT)  # a stopped process cannot handle SIGTERM

    def kill(self) -> None:
        self.group.kill()
        self.given_up = monotonic_ns() + KILL_NS
        # SIGKILL is sent again and again: a process that a member was just forking may have missed
        # it.
        self.await_end(self.given_up, again=self.group.kill)

    def await_end(self, until: int, again: Callable[[], None] | None = None) -> bool:
        """Return True when the whole group has ended, or False at the time `until`."""
        fired = True
        while not self.ended(fired):
            if monotonic_ns() >= until:
                return False
            ready = self.turn(min(until, self.ending.next_look))
            fired = self.ending.fd in ready or self.group.pidfd in ready
            if again:
                again()
        return True

    def ended(self, fired: bool) -> bool:
        self.end = self.end or self.group.leader_end()
        return not self.ending.left(fired) and bool(self.end)

    def drain(self) -> None:
        """Read until the pipes end, but only for a limited time.

        A process outside the group may hold the pipes.
        """
        now = monotonic_ns()
        limit = now + LINGER_NS
        if self.deadline is not None and self.deadline > now:
            limit = min(limit, max(self.deadline, now + constants.TICK_NS))
        seen = len(self.watch.noted)
        while any(output.fd >= 0 for output in self.outputs) and monotonic_ns() < limit:
            self.turn(limit)
            if len(self.watch.noted) > seen:
                seen = len(self.watch.noted)
                limit = min(limit, monotonic_ns() + constants.TICK_NS)
        left = [output.name for output in self.outputs if output.fd >= 0]
        self.detached = bool(left)
        self.unfinished += left

    def reap(self) -> None:
        until = self.given_up or monotonic_ns() + KILL_NS
        self.group.reap()
        if self.group.exists():
            self.await_end(until)
            self.group_left = len(self.ending.members)

    def close(self) -> None:
        self.input.close()
        for output in self.outputs:
            output.close()
        self.ending.close()
        self.group.close()
        if self.tee:
            self.tee.finish()
        self.terminal.take_back()
        signals.drop_sigpipe(self.mask)

    # Reporting.

    def final(self, cause: Cause) -> Cause:
        """Return the cause after all output was read.

        By then the output may have exceeded the cap, or a part of the payload may be lost.
        """
        if cause.name == "exit":
            if self.request.stdin_failure == "error" and (self.input.failure or self.input.rest):
                return Cause("stdin")
            if any(output.over for output in self.outputs):
                return Cause("cap")
        return cause

    def report(self, cause: Cause) -> Object:
        if cause.name == "stdin":
            reason = self.input.failure or os.strerror(errno.EPIPE)
            raise Failed("execution", f"failed to write stdin: {reason}")
        termination, exit_code, signal = self.outcome(cause)
        duration_ms = self.duration_ms()
        return {
            "success": termination == "exit" and exit_code == 0,
            "stdout": self.stream(0),
            "stderr": self.stream(1, self.note(cause)),
            "exit_code": exit_code,
            "duration_ms": duration_ms,
            "output": None,
            "termination": termination,
            "signal": None if signal is None else signals.name_of(signal),
            "detached_writers": self.detached,
            "group_left": self.group_left,
            "killed_writers": self.killed_writers,
            "pending_signals": [],
            "truncated": any(output.over for output in self.outputs),
        }

    def stream(self, i: int, note: str | None = None) -> str | Object:
        if not self.outputs:  # no child was started
            return text.as_json([], note=note)
        return text.as_json(self.outputs[i].kept, self.outputs[i].over, note)

    def outcome(self, cause: Cause) -> tuple[str, int | None, int | None]:
        """Return (termination, exit_code, signal)."""
        if cause.name == "parent_signal":
            return "parent_signal", 128 + cause.signal, cause.signal
        if cause.name == "stop":
            return "signal", None, cause.signal
        if cause.name != "exit":
            return cause.name, None, None
        assert self.end is not None
        code, status = self.end
        if code == os.CLD_EXITED:
            return "exit", status, None
        return "signal", None, status

    def note(self, cause: Cause) -> str | None:
        if cause.name == "timeout":
            return TIMED_OUT
        if cause.name == "parent_signal":
            return INTERRUPTED.format(signals.name_of(cause.signal))
        if cause.name == "stop":
            return STOPPED.format(signals.name_of(cause.signal))
        return None

    def duration_ms(self) -> int:
        return (monotonic_ns() - self.clock) // 1_000_000
