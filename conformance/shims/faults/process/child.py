"""Faults of the state in which a process starts."""

import _signal
import os

import process.bridge as bridge
import process.handle as handle
from exec.spawn import caller_environment, find_program, search_path
from faults.registry import fault, replaces


@fault(
    "PROCESS-CHILD-01", "the given environment is added to the caller's", "{...process.env, ...env}"
)
def the_environment_is_added():
    @replaces(handle.ConnectedSpawn)
    def __init__(original, self, request, *more):
        original(self, request, *more)
        self.environment = {**caller_environment(), **self.environment}


@fault("PROCESS-CHILD-01", "an empty environment means the caller's", "cmd.Env = nil")
def an_empty_environment_is_the_callers():
    @replaces(handle.ConnectedSpawn)
    def __init__(original, self, request, *more):
        original(self, request, *more)
        self.environment = self.environment or caller_environment()


@fault("PROCESS-CHILD-01", "empty arguments are dropped", "args.filter(Boolean)")
def empty_arguments_are_dropped():
    @replaces(handle.ConnectedSpawn)
    def __init__(original, self, request, *more):
        request.args = [word for word in request.args if word]
        original(self, request, *more)


@fault(
    "PROCESS-CHILD-01",
    "a bridge starts its program in the bridge's own directory",
    "two call sites",
)
def a_bridge_forgets_the_directory():
    @replaces(bridge.Bridge)
    def open(original, self, guard):
        self.request.current_dir = None
        return original(self, guard)


@fault(
    "PROCESS-CHILD-02",
    "signals that the caller ignores stay ignored in the child",
    "ignored signals survive exec",
)
def sigpipe_stays_ignored():
    @replaces(handle.ConnectedSpawn)
    def reset_signals(original, self):
        original(self)
        _signal.signal(_signal.SIGPIPE, _signal.SIG_IGN)


@fault("PROCESS-CHILD-02", "a descriptor of the caller is inherited", "pitfall C2: no O_CLOEXEC")
def a_descriptor_comes_along():
    @replaces(handle.ConnectedSpawn)
    def execute(original, self, path):
        os.set_inheritable(os.open("/dev/null", os.O_RDONLY), True)
        original(self, path)


@fault("PROCESS-CHILD-01", "a missing directory is ignored", "chdir() unchecked")
def a_missing_directory_is_no_matter():
    @replaces(handle.ConnectedSpawn)
    def __init__(original, self, request, *more):
        if request.current_dir and not os.path.isdir(request.current_dir):
            request.current_dir = None
        original(self, request, *more)


@fault("PROCESS-CHILD-03", "the caller's PATH is searched", "shutil.which(), posix_spawnp")
def the_callers_path_is_searched():
    @replaces(handle.ConnectedSpawn)
    def execute(original, self, path):
        callers = caller_environment().get(b"PATH", b"")
        try:
            path = find_program(self.request.program, {b"PATH": callers})
        except OSError:
            pass
        original(self, path)


@fault("PROCESS-CHILD-03", "empty entries of PATH are skipped", "split and filter")
def an_empty_entry_is_none():
    @replaces(handle.ConnectedSpawn)
    def execute(original, self, path):
        entries = b":".join(filter(None, search_path(self.environment)))
        original(self, find_program(self.request.program, {b"PATH": entries or b"/nowhere"}))


@fault(
    "PROCESS-CHILD-03",
    "a relative program of a bridge is resolved from the bridge's own directory",
    "open() before chdir()",
)
def a_bridges_names_are_its_own():
    @replaces(bridge.Bridge)
    def open(original, self, guard):
        name = self.request.program
        if b"/" in name and not name.startswith(b"/"):
            self.request.program = os.path.join(os.getcwdb(), name)
        return original(self, guard)


@fault(
    "PROCESS-CHILD-02",
    "signals that are blocked for the fork stay blocked in the child",
    "a mask that is not restored",
)
def sigterm_stays_blocked():
    @replaces(handle.ConnectedSpawn)
    def reset_signals(original, self):
        original(self)
        _signal.pthread_sigmask(_signal.SIG_BLOCK, {_signal.SIGTERM})
