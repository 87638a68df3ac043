"""Faults in waiting for the child."""

import _signal
import _thread
import os
import resource
import select
from time import monotonic_ns

import exec.group as group
import exec.run as run
import exec.signals as signals
import exec.streams as streams
from faults.exec.deadline import restart_deadline
from faults.registry import changed, fault, replaces


def looks_for_the_exit(delay_ms):
    """Check for the leader's end at fixed times only. delay_ms(n) is the delay after check n."""

    @replaces(run.Run)
    def await_cause(original, self):
        end = self.group.leader_end
        due = looks = 0

        def leader_end():
            nonlocal due, looks
            if monotonic_ns() < due:
                return None
            looks += 1
            due = monotonic_ns() + delay_ms(looks) * 1_000_000
            return end()

        with changed(self.group, leader_end=leader_end, pidfd=-1):
            while not (cause := self.look()):
                self.turn(due if self.deadline is None else min(due, self.deadline))
        return cause


def looks_every_5_ms(when):
    """Wake the run at least every 5 ms, as long as when(run) is true."""

    @replaces(run.Run)
    def patience_ms(original, self, until):
        patience = original(self, until)
        if not when(self):
            return patience
        return 5 if patience is None else min(patience, 5)


def notes_the_grace():
    """Return a function of a run that is True from the start of the run's grace period on."""

    @replaces(run.Run)
    def terminate(original, self, cause):
        self.in_grace = True
        original(self, cause)

    return lambda self: getattr(self, "in_grace", False)


@fault("EXEC-WAIT-01", "the exit is polled with a delay that grows to a second", "cpython _wait")
def backs_off():
    looks_for_the_exit(lambda looks: min(30**looks, 1000))


@fault("EXEC-WAIT-02", "the exit is polled every 100 ms", "pitfall G21: the origin of the contract")
def looks_every_tick():
    looks_for_the_exit(lambda looks: 100)


@fault(
    "EXEC-WAIT-02", "the exit is polled with a delay that grows to 100 ms", "1, 2, 4, … 64, 100 ms"
)
def backs_off_to_a_tick():
    looks_for_the_exit(lambda looks: min(2 ** (looks - 1), 100))


@fault(
    "EXEC-WAIT-02",
    "the run returns late, and the duration hides it",
    "wait4() and a separate clock",
)
def late_by_another_clock():
    looks_for_the_exit(lambda looks: 100)

    def watch(run, pidfd):
        poll = select.poll()
        poll.register(pidfd, select.POLLIN)
        poll.poll()
        run.gone = monotonic_ns()
        os.close(pidfd)

    @replaces(run.Run)
    def spawn(original, self):
        original(self)
        # Only in the run of the case that tests this.
        if self.request.program.endswith(b"slow-exit") and self.deadline is None:
            _thread.start_new_thread(watch, (self, os.dup(self.group.pidfd)))

    @replaces(run.Run)
    def duration_ms(original, self):
        gone = getattr(self, "gone", None)
        return original(self) if gone is None else (gone - self.clock) // 1_000_000


@fault("EXEC-WAIT-03", "the exit is polled every 5 ms", "pitfall G20")
def looks_two_hundred_times_a_second():
    looks_every_5_ms(lambda self: True)


@fault(
    "EXEC-WAIT-03", "in the grace the group is polled every 5 ms", "kill(-pid, 0) until it fails"
)
def looks_for_survivors_without_a_pause():
    looks_every_5_ms(notes_the_grace())


@fault("EXEC-WAIT-03", "in the grace the ended child wakes the wait without end", "poll(pidfd)")
def watches_who_has_ended():
    in_grace = notes_the_grace()

    @replaces(run.Run)
    def interests(original, self):
        yield from original(self)
        if self.end and in_grace(self):
            yield self.group.pidfd, select.POLLIN


@fault("EXEC-WAIT-03", "writing the payload is tried every 5 ms", "EAGAIN, then sleep")
def tries_to_write_without_a_pause():
    looks_every_5_ms(lambda self: self.input.fd >= 0 and not self.end)


@fault("EXEC-WAIT-03", "a pipe without a reader is polled on", "POLLERR cannot be masked")
def polls_a_pipe_without_a_reader():
    @replaces(streams.Input)
    def fail(original, self, number):
        self.broken = os.dup(self.fd)
        original(self, number)

    @replaces(run.Run)
    def interests(original, self):
        yield from original(self)
        # Except for failures that end the run at once, which other requirements test.
        if self.request.stdin_failure == "ignore" and not self.end:
            yield getattr(self.input, "broken", -1), select.POLLOUT

    @replaces(run.Run)
    def close(original, self):
        original(self)
        if hasattr(self.input, "broken"):
            os.close(self.input.broken)


@fault(
    "EXEC-WAIT-04",
    "a child that was reaped elsewhere gets an invented exit code",
    "ECHILD means 255",
)
def makes_up_a_code():
    @replaces(group.Group)
    def leader_end(original, self):
        try:
            return original(self)
        except ChildProcessError:
            return (os.CLD_EXITED, 255)


@fault(
    "EXEC-WAIT-04",
    "a child that was reaped elsewhere aborts the caller",
    "assert(waitpid(pid) == pid)",
)
def asserts_that_the_child_is_there():
    @replaces(group.Group)
    def kill_by_pidfd(original, self):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.abort()


@fault(
    "EXEC-WAIT-05",
    "an ignored SIGCHLD is noticed only when the child has ended",
    "pitfall D5: sudo#98",
)
def ignored_sigchld_is_noticed_late():
    signals.child_ends_are_lost = lambda alone: False


@fault("EXEC-WAIT-06", "the exit is learned from SIGCHLD", "pitfall D7: coreutils@cccd01b4d")
def waits_for_sigchld():
    @replaces(run.Run)
    def await_cause(original, self):
        if _signal.SIGCHLD in self.caller_mask:
            end, begun = self.group.leader_end, monotonic_ns()
            self.group.pidfd = -1
            self.group.leader_end = lambda: monotonic_ns() - begun > 600_000_000 and end()
        return original(self)


def is_told_of_interruptions(then):
    """Call `then` with the run after each poll that a signal interrupts.

    poll(2) is called directly, because Python's select.poll repeats an interrupted call.
    """
    import ctypes

    interrupted = []

    class Entry(ctypes.Structure):
        _fields_ = (
            ("fd", ctypes.c_int),
            ("events", ctypes.c_short),
            ("revents", ctypes.c_short),
        )

    class Poll:
        def __init__(self):
            self.entries = []

        def register(self, fd, events):
            self.entries.append((fd, events, 0))

        def poll(self, patience_ms):
            entries = (Entry * len(self.entries))(*self.entries)
            patience = -1 if patience_ms is None else patience_ms
            if ctypes.CDLL(None).poll(entries, len(entries), patience) < 0:
                interrupted.append(True)
            return [(each.fd, each.revents) for each in entries if each.revents]

    class Select:
        POLLIN, POLLOUT, poll = select.POLLIN, select.POLLOUT, Poll

    run.select = Select

    @replaces(run.Run)
    def turn(original, self, until):
        ready = original(self, until)
        # Except for signals that end a run, which other requirements test.
        if interrupted and not self.watch.noted:
            interrupted.clear()
            then(self)
        return ready


@fault("EXEC-WAIT-07", "each interruption restarts the deadline", "timeout passed on EINTR")
def interruptions_put_the_deadline_off():
    is_told_of_interruptions(restart_deadline)


@fault("EXEC-WAIT-07", "an interrupted wait is taken for the deadline", "poll() <= 0")
def interruptions_are_the_deadline():
    def give_up(self):
        self.deadline = self.deadline and monotonic_ns()

    is_told_of_interruptions(give_up)


@fault("EXEC-WAIT-03", "a wait for hours is a busy loop", "EINVAL of poll(2)")
def a_long_wait_is_a_busy_loop():
    @replaces(run.Run)
    def patience_ms(original, self, until):
        found = original(self, until)
        return 0 if found == run.LONGEST_POLL_MS else found


@fault("EXEC-WAIT-03", "in the last second before a deadline it polls often", "sleep less and less")
def polls_often_before_the_deadline():
    @replaces(run.Run)
    def patience_ms(original, self, until):
        patience = original(self, until)
        if patience is None or self.deadline is None:
            return patience
        # Without events, wait until the last second begins.
        before_ms = max(0, (self.deadline - monotonic_ns()) // 1_000_000 - 1000)
        return min(patience, before_ms + 10)
