"""Mistakes with what a handle leaves behind."""

import _thread
import os

import process.handle as handle
from faults.registry import fault, replaces

kept: list[object] = []


@fault("PROCESS-LEAK-01", "a descriptor stays with each handle", "dup for a reader")
def a_descriptor_stays():
    @replaces(handle.Process)
    def __init__(original, self, *words, **more):
        original(self, *words, **more)
        kept.append(os.dup(self.group.pidfd))


@fault("PROCESS-LEAK-01", "a thread stays with each handle", "a reaper thread that waits for ever")
def a_thread_stays():
    @replaces(handle.Process)
    def drop(original, self):
        original(self)
        gate = _thread.allocate_lock()
        gate.acquire()
        _thread.start_new_thread(gate.acquire, ())


@fault("PROCESS-LEAK-01", "what was read stays", "a transcript without a bound")
def what_was_read_stays():
    @replaces(handle.Process)
    def drop(original, self):
        original(self)
        kept.append(bytearray(os.urandom(256)) * 2048)


@fault("PROCESS-LEAK-01", "8 KiB stay", "a buffer for each handle that is open")
def a_buffer_stays():
    @replaces(handle.Process)
    def drop(original, self):
        original(self)
        kept.append(bytearray(os.urandom(256)) * 32)


@fault("PROCESS-LEAK-01", "a descriptor stays for each member", "a pidfd that nobody closes")
def a_descriptor_stays_for_each_member():
    @replaces(handle.Process)
    def end_group(original, self):
        kept.extend(os.pidfd_open(pid) for pid in self.group.alive())
        original(self)
