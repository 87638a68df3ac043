"""Faults in passing on the request of a call without a sandbox."""

import os
import shutil

from backend.session import Session
from faults.registry import fault, replaces


def without_a_sandbox(change):
    """Change the requests of calls that run without a sandbox."""

    @replaces(Session)
    def give_stdin(original, self, request):
        if self.backend is None:
            change(request)
        original(self, request)


@fault("BACKEND-SESSION-04", "without a sandbox a call has no stdin", "a simple subprocess call")
def no_stdin_without_a_sandbox():
    def change(request):
        request.stdin = "null"

    without_a_sandbox(change)


@fault("BACKEND-SESSION-04", "without a sandbox a call goes through a shell", "os.system()")
def a_shell_without_a_sandbox():
    def change(request):
        line = b" ".join([request.program, *request.args])
        request.program, request.args = b"/bin/sh", [b"-c", line]

    without_a_sandbox(change)


@fault("BACKEND-SESSION-04", "without a sandbox only the first call runs", "a loop that ends early")
def one_call_without_a_sandbox():
    @replaces(Session)
    def call(original, self, request):
        if self.backend is None and getattr(self, "has_run", False):
            request.program, request.args = b"/bin/true", []
        self.has_run = True
        return original(self, request)


@fault("BACKEND-SESSION-04", "without a sandbox a name is searched in the caller's PATH", "execvp")
def the_callers_path_without_a_sandbox():
    def change(request):
        request.program = os.fsencode(shutil.which(request.program) or request.program)

    without_a_sandbox(change)
