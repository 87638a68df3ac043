"""Faults of a signal or a drop beside a call of another thread."""

import _signal

import process.handle as handle
import process.script as script
from faults.registry import fault, replaces


@fault("PROCESS-KILL-01", "a kill waits for the grace of a close", "a mutex around close")
def a_kill_waits_for_the_grace():
    @replaces(handle.Process)
    def await_group(original, self, until):
        self.in_grace = True
        original(self, until)
        self.in_grace = False

    @replaces(handle.Process)
    def signal(original, self, number):
        if number != _signal.SIGKILL or not getattr(self, "in_grace", False):
            original(self, number)


@fault("PROCESS-KILL-01", "a kill ends a wait that has a limit as running", "EINTR is a timeout")
def a_kill_ends_a_wait_as_running():
    @replaces(script.Step)
    def act_on(original, self, on, process):
        if self.kind == "kill" and process.waits:
            process.interrupted = True
        return original(self, on, process)

    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        told = original(self, timeout_ms)
        return {"running": True} if timeout_ms and hasattr(self, "interrupted") else told
