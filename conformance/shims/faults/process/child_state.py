"""Faults of the state that a process inherits from its caller, and of its streams."""

import _signal
import os
import resource

import process.handle as handle
from faults.limits import raise_to_the_hard_limit
from faults.registry import fault, replaces


@fault("PROCESS-CHILD-05", "no signal is blocked in a process", "sigemptyset() before exec")
def no_signal_is_blocked():
    @replaces(handle.ConnectedSpawn)
    def __init__(original, self, request, caller_mask, modes, announce):
        original(self, request, (), modes, announce)


@fault(
    "PROCESS-CHILD-05",
    "a signal that the implementation blocks stays blocked in the child",
    "signalfd, sigwait",
)
def a_signal_stays_blocked():
    @replaces(handle.ConnectedSpawn)
    def __init__(original, self, request, caller_mask, modes, announce):
        original(self, request, {*caller_mask, _signal.SIGUSR1, _signal.SIGALRM}, modes, announce)


@fault(
    "PROCESS-CHILD-05",
    "a SIGHUP that the caller ignores is not ignored in the child",
    "reset all, nohup is lost",
)
def nohup_is_lost():
    @replaces(handle.ConnectedSpawn)
    def join_group(original, self):
        original(self)
        _signal.signal(_signal.SIGHUP, _signal.SIG_DFL)


@fault("PROCESS-CHILD-05", "a process has a umask of its own", "daemon(3) habits")
def a_process_has_its_own_umask():
    @replaces(handle.ConnectedSpawn)
    def join_group(original, self):
        original(self)
        os.umask(0o022)


@fault("PROCESS-CHILD-05", "a process has the largest possible stack", "a supervisor's ulimit -s")
def a_process_has_the_largest_stack():
    @replaces(handle.ConnectedSpawn)
    def join_group(original, self):
        original(self)
        raise_to_the_hard_limit(resource.RLIMIT_STACK)


@fault("PROCESS-CHILD-05", "a bridge raises the limit of open files", "as Go does for itself")
def a_bridge_raises_the_limit():
    @replaces(handle.ConnectedSpawn)
    def join_group(original, self):
        original(self)
        if self.announce >= 0:
            raise_to_the_hard_limit(resource.RLIMIT_NOFILE)


@fault("PROCESS-CHILD-06", "a process has a session of its own", "start_new_session=True")
def a_process_has_its_own_session():
    @replaces(handle.ConnectedSpawn)
    def join_group(original, self):
        os.setsid()
        if self.announce >= 0:
            os.write(self.announce, b"%d\n" % os.getpid())


@fault(
    "PROCESS-CHILD-07", "nonblocking makes the child's ends non-blocking too", "pipe2(O_NONBLOCK)"
)
def both_ends_do_not_block():
    @replaces(handle.Process)
    def __init__(original, self, request, modes, nonblocking, announce=-1):
        Both.nonblocking = nonblocking and announce < 0
        original(self, request, modes, nonblocking, announce)

    @replaces(handle.ConnectedSpawn)
    def place(original, self, stdio):
        original(self, stdio)
        for target in (0, 1, 2):
            if Both.nonblocking and self.modes[target] == handle.PIPED:
                os.set_blocking(target, False)


@fault(
    "PROCESS-CHILD-07",
    "the streams of a bridge's child are non-blocking",
    "one helper for all pipes",
)
def a_bridges_child_does_not_block():
    @replaces(handle.ConnectedSpawn)
    def place(original, self, stdio):
        original(self, stdio)
        if self.announce >= 0:
            os.set_blocking(1, False)


class Both:
    nonblocking = False


@fault(
    "PROCESS-CHILD-01",
    "of two variables with one name the first is used",
    "setenv() without overwrite",
)
def the_first_value_counts():
    @replaces(handle)
    def check(original, request, modes):
        if request.env is not None:
            request.env = list(dict(reversed(request.env)).items())
        original(request, modes)
