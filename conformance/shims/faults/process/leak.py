"""Faults that leak a resource with each handle."""

import _thread
import os

import process.handle as handle
from errors import Failed
from faults.registry import changed, fault, replaces

kept: list[object] = []


@fault("PROCESS-LEAK-01", "each handle leaves a descriptor open", "dup for a reader")
def a_descriptor_stays():
    @replaces(handle.Process)
    def __init__(original, self, *words, **more):
        original(self, *words, **more)
        kept.append(os.dup(self.group.pidfd))


@fault("PROCESS-LEAK-01", "each handle leaves a thread", "a reaper thread that waits for ever")
def a_thread_stays():
    @replaces(handle.Process)
    def drop(original, self):
        original(self)
        gate = _thread.allocate_lock()
        gate.acquire()
        _thread.start_new_thread(gate.acquire, ())


@fault(
    "PROCESS-LEAK-01", "all data that was read is kept in memory", "a transcript without a bound"
)
def what_was_read_stays():
    @replaces(handle.Process)
    def drop(original, self):
        original(self)
        kept.append(bytearray(os.urandom(256)) * 2048)


@fault("PROCESS-LEAK-01", "each handle leaks 8 KiB", "a buffer for each handle that is open")
def a_buffer_stays():
    @replaces(handle.Process)
    def drop(original, self):
        original(self)
        kept.append(bytearray(os.urandom(256)) * 32)


@fault(
    "PROCESS-LEAK-01",
    "each member of a group leaves a descriptor open",
    "a pidfd that is not closed",
)
def a_descriptor_stays_for_each_member():
    @replaces(handle.Process)
    def end_group(original, self):
        kept.extend(os.pidfd_open(pid) for pid in self.group.alive())
        original(self)


@fault("PROCESS-LEAK-02", "a failed open leaves its pipes open", "an error path without close")
def pipes_of_a_failed_open_stay():
    @replaces(handle.ConnectedSpawn)
    def start(original, self):
        try:
            return original(self)
        except Failed:
            kept.append(os.pipe())
            raise


@fault("PROCESS-LEAK-02", "a child whose exec failed is not reaped", "a return before waitpid()")
def a_failed_child_is_not_collected():
    @replaces(handle.ConnectedSpawn)
    def await_exec(original, self, pid, report):
        with changed(os, waitpid=lambda pid, flags: (pid, 0)):
            original(self, pid, report)


@fault(
    "PROCESS-LEAK-02",
    "each failed open takes one of 64 places for ever",
    "a table without a way back",
)
def a_failed_open_keeps_its_place():
    @replaces(handle.Process)
    def __init__(original, self, *words, **more):
        if len(places) >= 64:
            raise Failed("execution", "too many processes")
        places.append(self)
        original(self, *words, **more)
        places.remove(self)


places: list[object] = []
