"""Faults of sandboxes around modules."""

import os

from backend.around import Around
from faults.registry import fault, replaces
from module.execution import Execution, Failure


@fault(
    "MODULE-BACKEND-01", "the session is opened, but the runner is not wrapped", "two call sites"
)
def the_runner_is_not_wrapped():
    @replaces(Execution)
    def go_inside(original, self, request, path):
        if self.around is not None:
            self.around.open(path)


@fault(
    "MODULE-BACKEND-01",
    "the extensions root does not exist inside the sandbox",
    "a private /dev or /tmp",
)
def the_extensions_root_is_not_there():
    @replaces(Execution)
    def go_inside(original, self, request, path):
        if self.around is not None:
            self.around.open(path)
            self.around.wrap_request(request)


@fault(
    "MODULE-BACKEND-02",
    "the parent of the working directory becomes the workspace",
    "dirname once too often",
)
def the_workspace_is_the_parent():
    @replaces(Execution)
    def go_inside(original, self, request, path):
        if self.around is not None:
            self.around.open(os.path.dirname(path), [self.root()])
            self.around.wrap_request(request)


@fault(
    "MODULE-BACKEND-01",
    "the sandbox is dropped before the runner starts",
    "a fallback with a report",
)
def the_runner_is_left_bare():
    @replaces(Execution)
    def go_inside(original, self, request, path):
        if self.around is not None:
            self.around.open(path, [self.root()])
            self.around.session.drop()
            self.around.wrap_request(request)


@fault(
    "MODULE-BACKEND-01", "a run without a sandbox is reported as partial", "a report after the run"
)
def what_is_not_wrapped_is_told_as_partial():
    the_runner_is_not_wrapped()

    @replaces(Around)
    def enforcement(original, self):
        reasons = ["a runner is not wrapped"]
        return {**original(self), "enforcement": "partial", "enforcement_reasons": reasons}


@fault("MODULE-BACKEND-03", "after an error the session stays open", "close on the good path")
def the_session_stays_open_after_an_error():
    @replaces(Execution)
    def judge(original, self, ended, noted):
        try:
            return original(self, ended, noted)
        except Failure:
            if self.around is not None:
                self.around.session.prepared = False
            raise


@fault("MODULE-BACKEND-03", "after a timeout the session stays open", "an early return")
def the_session_stays_open_after_a_timeout():
    @replaces(Execution)
    def judge(original, self, ended, noted):
        if ended["cause"] == "timeout" and self.around is not None:
            self.around.session.prepared = False
        return original(self, ended, noted)
