"""Faults of the identity and the place of a module: privileges and processors."""

import ctypes
import os

import module.runner as runner
from faults.registry import fault, replaces

PR_SET_NO_NEW_PRIVS = 38


@fault("MODULE-PIPE-08", "a module cannot gain privileges: sudo fails", "a hardening default")
def a_module_gains_no_privileges():
    @replaces(runner)
    def drop_capabilities(original):
        original()
        ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


@fault("MODULE-PIPE-08", "a module is bound to one processor", "a fair share for each tenant")
def a_module_is_bound():
    @replaces(runner)
    def drop_capabilities(original):
        original()
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
