"""Faults in closing a handle."""

import _signal
import select

import process.handle as handle
from faults.process.parts import notes_a_close, to_nobody, to_the_leader_alone
from faults.registry import fault, replaces


@fault("PROCESS-CLOSE-01", "close kills without a grace period", "kill() in a destructor")
def no_grace():
    @replaces(handle.Process)
    def await_group(original, self, until):
        pass


@fault(
    "PROCESS-CLOSE-01", "the grace period ends when the leader ends", "wait(timeout) on the child"
)
def the_leaders_grace():
    @replaces(handle.Process)
    def await_group(original, self, until):
        from time import monotonic_ns, sleep

        while not self.look() and monotonic_ns() < until:
            sleep(0.002)


@fault("PROCESS-CLOSE-02", "detached writers are not detected", "close(fd) and done")
def nobody_looks():
    @replaces(handle)
    def has_writer(original, fd):
        return False


@fault(
    "PROCESS-CLOSE-02",
    "a stream with unread data counts as closed by its writers",
    "select() on a pipe",
)
def what_can_be_read_is_the_end():
    @replaces(handle)
    def has_writer(original, fd):
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        return not poll.poll(0)


@fault(
    "PROCESS-CLOSE-02",
    "a taken stream is checked for detached writers too",
    "fstat on a descriptor that was given away",
)
def taken_counts():
    @replaces(handle.Process)
    def close(original, self, grace_ms):
        taken = self.fds[0] >= 0 and self.fds[1] < 0
        told = original(self, grace_ms)
        return {**told, "detached_writers": True} if taken else told

    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        return original(self, 5000 if timeout_ms is None and self.fds[1] < 0 else timeout_ms)


@fault("PROCESS-CLOSE-03", "a second close does not return the result", "an optional that is taken")
def nothing_to_tell():
    @replaces(handle.Process)
    def close(original, self, grace_ms):
        told = original(self, grace_ms)
        if getattr(self, "closed", False):
            return {"exited": 0, "detached_writers": False}
        self.closed = True
        return told


@fault(
    "PROCESS-CLOSE-03",
    "a close does not wait for another close that is in progress",
    "if closing: return",
)
def does_not_wait_for_the_other():
    @replaces(handle.Process)
    def close(original, self, grace_ms):
        if getattr(self, "closing", False) and not self.reaped:
            return {"running": True, "detached_writers": False}
        self.closing = True
        return original(self, grace_ms)


@fault(
    "PROCESS-CLOSE-02",
    "detached writers are looked for before the group is killed",
    "poll(), then kill()",
)
def looks_before_the_end():
    @replaces(handle.Process)
    def close(original, self, grace_ms):
        open_ends = [fd for fd in self.fds[1:] if fd >= 0]
        found = any(handle.has_writer(fd) for fd in open_ends)
        return {**original(self, grace_ms), "detached_writers": found}


@fault(
    "PROCESS-CLOSE-03",
    "a second close looks for detached writers again",
    "a result that is not kept",
)
def looks_anew():
    @replaces(handle.Process)
    def close(original, self, grace_ms):
        self.detached = False
        return original(self, grace_ms)


def continued(how):
    """Replace the SIGCONT that a close sends by a call of `how`."""
    notes_a_close()

    @replaces(handle.Process)
    def signal(original, self, number):
        if number == _signal.SIGCONT and hasattr(self, "closes"):
            how(self)
        else:
            original(self, number)


@fault("PROCESS-CLOSE-04", "stopped members get no SIGCONT", "only SIGTERM")
def nobody_is_continued():
    continued(to_nobody)


@fault("PROCESS-CLOSE-04", "SIGCONT goes only to the leader", "kill(pid, SIGCONT)")
def the_leader_alone_is_continued():
    continued(to_the_leader_alone)


@fault("PROCESS-CLOSE-05", "a stream with a detached writer stays open", "continue in a loop")
def a_stream_with_a_writer_is_left():
    @replaces(handle.Process)
    def close_stream(original, self, stream):
        busy = self.reaped and stream and self.fds[stream] >= 0
        # Only the first attempt leaves the stream open: a later attempt, by a drop or another
        # close, closes it.
        if busy and not hasattr(self, "left") and handle.has_writer(self.fds[stream]):
            self.left = True
            return
        original(self, stream)


@fault("PROCESS-CLOSE-01", "a grace of 0 means the default", "grace_ms or 5000")
def no_grace_is_the_default():
    @replaces(handle.Process)
    def close(original, self, grace_ms):
        return original(self, grace_ms or 5000)


@fault("PROCESS-CLOSE-02", "unread data counts as a writer", "POLLIN without POLLHUP")
def what_nobody_read_is_a_writer():
    @replaces(handle)
    def has_writer(original, fd):
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        return original(fd) or any(events & select.POLLIN for _, events in poll.poll(0))


@fault(
    "PROCESS-CLOSE-01",
    "there is no grace period if the leader has ended before",
    "if poll() is None",
)
def a_leader_takes_the_grace_along():
    @replaces(handle.Process)
    def is_over(original, self):
        return self.settled()


@fault("PROCESS-CLOSE-01", "a very long grace period ends at once", "(int) of milliseconds")
def a_long_grace_is_none():
    @replaces(handle.Process)
    def close(original, self, grace_ms):
        return original(self, 0 if grace_ms >= 2**31 else grace_ms)


@fault(
    "PROCESS-CLOSE-01", "close ends the input first and waits before it signals", "clients of MCP"
)
def its_input_is_ended_first():
    @replaces(handle.Process)
    def close(original, self, grace_ms):
        if not self.is_over():
            self.close_stream(0)
            self.await_group(handle.monotonic_ns() + min(grace_ms, 1000) * 1_000_000)
        return original(self, grace_ms)


@fault(
    "PROCESS-CLOSE-01", "the grace period is rounded up to whole seconds", "sleep() of an integer"
)
def whole_seconds():
    @replaces(handle.Process)
    def close(original, self, grace_ms):
        return original(self, -(-grace_ms // 1000) * 1000)
