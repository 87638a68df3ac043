"""Faults of waits during signals and during waits of other threads."""

import select
from time import monotonic_ns

import process.handle as handle
import process.script as script
from faults.registry import fault, replaces


@fault("PROCESS-WAIT-01", "after a kill the end is SIGKILL in any case", "returncode = -signal")
def a_kill_is_the_end_in_any_case():
    @replaces(script.Step)
    def act_on(original, self, handle, process):
        if self.kind == "kill" and not process.reaped:
            process.killed = True
        return original(self, handle, process)

    @replaces(handle.Process)
    def ended(original, self):
        killed = self.reaped and getattr(self, "killed", False)
        return {"signaled": "SIGKILL"} if killed else original(self)


@fault("PROCESS-WAIT-03", "a wait with a limit returns while another thread waits", "try_lock")
def a_second_wait_returns_at_once():
    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        return self.ended() if timeout_ms and self.waits else original(self, timeout_ms)


@fault(
    "PROCESS-WAIT-03",
    "a wait whose limit passes ends the waits of other threads",
    "notify_all without a predicate",
)
def a_limit_ends_other_waits():
    @replaces(handle.Process)
    def poll_end(original, self, until):
        poll = select.poll()
        poll.register(self.group.pidfd, select.POLLIN)
        before = self.passed = getattr(self, "passed", 0)
        while not self.settled() and self.passed == before:
            if until is not None and monotonic_ns() >= until:
                self.passed += 1
            poll.poll(20)


@fault("PROCESS-WAIT-04", "beside another wait, a wait leaves stdin open", "only the first waiter")
def a_second_wait_leaves_stdin_open():
    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        if timeout_ms is None and self.waits:
            self.await_end(None)
            return self.ended()
        return original(self, timeout_ms)
