"""Mistakes with what a process is started with."""

import _signal
import os

import process.bridge as bridge
import process.handle as handle
from exec.spawn import caller_environment
from faults.registry import fault, replaces


@fault("PROCESS-CHILD-01", "the environment is added to the caller's", "{...process.env, ...env}")
def the_environment_is_added():
    @replaces(handle.Plugged)
    def __init__(original, self, request, *more):
        original(self, request, *more)
        self.environment = {**caller_environment(), **self.environment}


@fault("PROCESS-CHILD-01", "an empty environment is the caller's", "cmd.Env = nil")
def an_empty_environment_is_the_callers():
    @replaces(handle.Plugged)
    def __init__(original, self, request, *more):
        original(self, request, *more)
        self.environment = self.environment or caller_environment()


@fault("PROCESS-CHILD-01", "an empty argument is none", "args.filter(Boolean)")
def empty_arguments_are_dropped():
    @replaces(handle.Plugged)
    def __init__(original, self, request, *more):
        request.args = [word for word in request.args if word]
        original(self, request, *more)


@fault("PROCESS-CHILD-01", "a bridge starts its program where it is itself", "two call sites")
def a_bridge_forgets_the_directory():
    @replaces(bridge.Bridge)
    def open(original, self, guard):
        self.request.current_dir = None
        return original(self, guard)


@fault("PROCESS-CHILD-02", "what the caller ignores is ignored", "what is ignored survives an exec")
def sigpipe_stays_ignored():
    @replaces(handle.Plugged)
    def reset_signals(original, self):
        original(self)
        _signal.signal(_signal.SIGPIPE, _signal.SIG_IGN)


@fault("PROCESS-CHILD-02", "a descriptor of the caller comes along", "pitfall C2: no O_CLOEXEC")
def a_descriptor_comes_along():
    @replaces(handle.Plugged)
    def execute(original, self, path):
        os.set_inheritable(os.open("/dev/null", os.O_RDONLY), True)
        original(self, path)


@fault("PROCESS-CHILD-01", "a directory that is not there is no matter", "chdir() unchecked")
def a_missing_directory_is_no_matter():
    @replaces(handle.Plugged)
    def __init__(original, self, request, *more):
        if request.current_dir and not os.path.isdir(request.current_dir):
            request.current_dir = None
        original(self, request, *more)
