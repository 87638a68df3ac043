"""Faults of limits that are rounded."""

import process.handle as handle
from faults.registry import fault, replaces


@fault("PROCESS-WAIT-03", "a limit is rounded down to whole seconds", "alarm(ms / 1000)")
def a_limit_is_rounded_to_seconds():
    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        if timeout_ms is not None and timeout_ms >= 1000:
            timeout_ms = timeout_ms // 1000 * 1000
        return original(self, timeout_ms)


@fault("PROCESS-WAIT-03", "a limit is up to a tick early", "ms / 100 * 100")
def a_limit_is_rounded_to_ticks():
    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        return original(self, timeout_ms and timeout_ms // 100 * 100)


@fault("PROCESS-WAIT-06", "a stopped child is reported as ended", "WUNTRACED, and no WIFSTOPPED")
def a_stop_is_an_end():
    @replaces(handle.Process)
    def look(original, self):
        found = original(self)
        if not found and (number := self.group.leader_stop()):
            self.group.kill()
            self.end = (2, number)
            return True
        return found


@fault(
    "PROCESS-WAIT-06", "the end of the output is taken for the end", "communicate(), then kill()"
)
def the_end_of_the_output_is_the_end():
    import select

    @replaces(handle.Process)
    def poll_end(original, self, until):
        out = self.fds[1]
        if out >= 0 and until is None:
            poll = select.poll()
            poll.register(out, 0)
            while not self.settled():
                if any(events & select.POLLHUP for _, events in poll.poll(20)):
                    self.signal(9)
                    break
        original(self, until)


@fault("PROCESS-WAIT-03", "whole days of a limit are dropped", "timedelta.seconds")
def whole_days_are_dropped():
    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        return original(self, timeout_ms and timeout_ms % 86_400_000)


@fault("PROCESS-WAIT-07", "a wait for weeks is a busy loop", "EINVAL of poll(2)")
def a_long_wait_is_a_busy_loop():
    handle.MOST_POLL_MS = 0
