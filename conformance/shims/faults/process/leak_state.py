"""Faults after which the caller itself has another state than before a process."""

import _signal
import os

import process.bridge as bridge
import process.handle as handle
from faults.registry import fault, replaces


@fault(
    "PROCESS-LEAK-03", "the umask of an open stays set in the caller", "umask(077), no umask(old)"
)
def the_umask_stays_changed():
    @replaces(handle.ConnectedSpawn)
    def fork(original, self, stdio, report):
        try:
            return original(self, stdio, report)
        finally:
            os.umask(0o077)


@fault("PROCESS-LEAK-03", "after a close SIGHUP stays blocked", "sigtimedwait() in the grace")
def sighup_stays_blocked():
    @replaces(handle.Process)
    def close(original, self, grace_ms):
        _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGHUP, _signal.SIGALRM))
        return original(self, grace_ms)


@fault("PROCESS-LEAK-03", "a bridge leaves its caller in `/`", "daemon(3) habits")
def a_bridge_goes_to_the_root():
    @replaces(bridge.Bridge)
    def open(original, self, guard):
        opened = original(self, guard)
        os.chdir("/")
        return opened


@fault("PROCESS-LEAK-03", "streams that a process inherits are non-blocking afterwards", "libuv")
def inherited_streams_do_not_block():
    @replaces(handle.ConnectedSpawn)
    def inherit_or_null(original, self, target, flags):
        if self.modes[target] == handle.INHERIT:
            os.set_blocking(target, False)
        return original(self, target, flags)
