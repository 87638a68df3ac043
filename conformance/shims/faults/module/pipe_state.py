"""Faults of the state that a module inherits from its caller."""

import _signal
import os
import resource

import module.runner as runner
from faults.limits import raise_to_the_hard_limit
from faults.registry import fault, replaces


@fault("MODULE-PIPE-06", "no signal is blocked in a module", "sigemptyset() in the runner")
def no_signal_is_blocked():
    @replaces(runner)
    def become(original, path, environment):
        _signal.pthread_sigmask(_signal.SIG_SETMASK, ())
        original(path, environment)


@fault("MODULE-PIPE-06", "a module has a umask of its own", "a careful runner")
def a_module_has_its_own_umask():
    @replaces(runner)
    def become(original, path, environment):
        os.umask(0o077)
        original(path, environment)


@fault(
    "MODULE-PIPE-06",
    "a SIGHUP that the caller ignores is not ignored in the module",
    "reset all, nohup is lost",
)
def nohup_is_lost():
    @replaces(runner)
    def become(original, path, environment):
        _signal.signal(_signal.SIGHUP, _signal.SIG_DFL)
        original(path, environment)


@fault("MODULE-PIPE-06", "the limit of open files is raised in the module", "as Go does for itself")
def the_limit_of_files_is_raised():
    @replaces(runner)
    def become(original, path, environment):
        raise_to_the_hard_limit(resource.RLIMIT_NOFILE)
        original(path, environment)


@fault("MODULE-PIPE-06", "a module has a limit of memory", "setrlimit(RLIMIT_AS) for safety")
def a_module_has_a_limit_of_memory():
    @replaces(runner)
    def become(original, path, environment):
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (2**40, hard))
        original(path, environment)


@fault("MODULE-PIPE-07", "the output of a module is non-blocking", "an event loop in the runner")
def output_does_not_block():
    @replaces(runner)
    def become(original, path, environment):
        os.set_blocking(1, False)
        original(path, environment)
