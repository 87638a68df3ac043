"""Faults in sessions of several calls, and in sessions without a sandbox."""

import os
import sys

import backend.tree as tree
from backend.bubblewrap import Bubblewrap
from backend.session import Session
from faults.registry import fault, replaces


@fault(
    "BACKEND-SESSION-11", "after a failed prepare a call starts where the caller is", "unset cwd"
)
def no_directory_after_a_failed_prepare():
    @replaces(Session)
    def wrap_request(original, self, request):
        named = request.current_dir
        original(self, request)
        if self.backend is None and "prepare failed" in (self.why or ""):
            request.current_dir = named


@fault("BACKEND-SESSION-11", "without a sandbox the directory of a call is ignored", "only wrap")
def no_directory_of_a_call_without_a_sandbox():
    @replaces(Session)
    def wrap_request(original, self, request):
        original(self, request)
        if self.backend is None:
            request.current_dir = self.context.cwd


@fault("BACKEND-SESSION-12", "only the first call without a sandbox is cleared", "done once")
def only_the_first_call_is_cleared():
    @replaces(Session)
    def keep_listed_variables(original, self, request):
        if self.backend is not None or not getattr(self, "cleared", False):
            original(self, request)
        self.cleared = True


@fault("BACKEND-SESSION-12", "after a failed prepare a call gets all variables", "another branch")
def all_variables_after_a_failed_prepare():
    @replaces(Session)
    def keep_listed_variables(original, self, request):
        if "prepare failed" not in (self.why or ""):
            original(self, request)


@fault("BACKEND-SESSION-03", "prepare fails if the root contains the backend", "cp onto itself")
def its_own_directory_is_no_root():
    @replaces(Bubblewrap)
    def prepare(original, self, context, claims):
        if tree.is_below(os.path.realpath(os.fsencode(sys.argv[0])), context.root):
            raise OSError("the launcher cannot be copied")
        return original(self, context, claims)


@fault("BACKEND-SESSION-10", "results after a failed call are partial", "a flag that stays")
def results_after_a_failure_are_partial():
    @replaces(Session)
    def call(original, self, request):
        answer = original(self, request)
        if "error" in answer:
            self.__dict__["failed_once"] = True
        elif "failed_once" in self.__dict__ and self.backend is not None:
            answer["result"]["enforcement"] = "partial"
        return answer


@fault("BACKEND-SESSION-10", "results after a timeout have no enforcement", "the launcher is gone")
def results_after_a_timeout_are_none():
    @replaces(Session)
    def call(original, self, request):
        answer = original(self, request)
        if "timed_out" in self.__dict__ and "result" in answer:
            answer["result"]["enforcement"] = "none"
        if request.timeout_ms and not answer.get("result", {}).get("success"):
            self.__dict__["timed_out"] = True
        return answer
