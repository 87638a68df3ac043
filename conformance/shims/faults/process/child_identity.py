"""Faults of the identity and the place of a process: privileges and groups."""

import ctypes
import os

import process.handle as handle
from faults.registry import fault, replaces

PR_SET_NO_NEW_PRIVS = 38


@fault("PROCESS-CHILD-08", "a process cannot gain privileges: sudo fails", "PR_SET_NO_NEW_PRIVS")
def a_process_gains_no_privileges():
    @replaces(handle.ConnectedSpawn)
    def join_group(original, self):
        original(self)
        ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


@fault("PROCESS-CHILD-08", "the program of a bridge is bound to one processor", "a pinned worker")
def a_bridged_process_is_bound():
    @replaces(handle.ConnectedSpawn)
    def join_group(original, self):
        original(self)
        if self.announce >= 0:
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
