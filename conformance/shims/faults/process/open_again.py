"""Faults of a handle that is opened again after a drop."""

import _thread
from typing import Any

import process.handle as handle
import process.script as script
from faults.registry import fault, replaces


@fault(
    "PROCESS-OPEN-09", "a handle that is opened again keeps its end", "a field that is not reset"
)
def the_end_of_the_process_before_is_kept():
    ends: dict[int, Any] = {}

    @replaces(script.Step)
    def act_on(original, self, handle, process):
        if self.kind in ("wait", "poll", "close"):
            told = ends.get(id(handle))
            if told is None:
                told = original(self, handle, process)
                if "running" not in told:
                    ends[id(handle)] = told
            return told
        return original(self, handle, process)


@fault("PROCESS-OPEN-09", "a handle that is opened again keeps detached_writers", "a static flag")
def detached_writers_of_the_process_before_are_reported():
    found = []

    @replaces(handle.Process)
    def close(original, self, grace_ms):
        told = original(self, grace_ms)
        if told["detached_writers"]:
            found.append(self)
        return {**told, "detached_writers": bool(found)}


@fault("PROCESS-OPEN-09", "a handle that was killed is killed again at the next open", "a flag")
def a_kill_is_repeated_after_the_next_open():
    @replaces(script.Step)
    def act(original, self):
        told = original(self)
        each = self.handle
        if each is not None and self.kind == "kill":
            each.killed = True
        if each is not None and self.kind == "open" and getattr(each, "killed", False):
            each.process.signal(9)
        return told


@fault("PROCESS-OPEN-05", "the grace of a close holds a lock of all handles", "a static mutex")
def a_close_holds_up_other_handles():
    shared = _thread.allocate_lock()

    @replaces(handle.Process)
    def close(original, self, grace_ms):
        with shared:
            return original(self, grace_ms)

    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        with shared:
            pass
        return original(self, timeout_ms)
