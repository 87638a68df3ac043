"""Faults about rules in later calls, in other directories, for strange names, with exceptions."""

import os

import backend.naming as naming
import backend.tree as tree
import policy.decide as decide
from backend.bubblewrap import Bubblewrap
from backend.rules import Rules
from backend.session import Session
from faults.registry import changed, fault, replaces


def is_denied(given, op, path, root):
    return given.denied(op, os.fsdecode(os.path.relpath(path, root)))


@fault("BACKEND-RULE-17", "rules hold only for calls in the root", "mounts relative to the cwd")
def rules_are_for_the_root():
    @replaces(Bubblewrap)
    def wrap(original, self, argv, given, cwd):
        with changed(self, binds=self.binds if cwd == given.root else []):
            return original(self, argv, given, cwd)


@fault("BACKEND-RULE-17", "the first call takes the mounts", "a list that is moved out")
def the_first_call_takes_the_mounts():
    @replaces(Bubblewrap)
    def wrap(original, self, argv, given, cwd):
        made = original(self, argv, given, cwd)
        self.binds = []
        return made


@fault("BACKEND-RULE-17", "a call that fails ends the rules", "clean-up after each error")
def a_failure_ends_the_rules():
    @replaces(Session)
    def call(original, self, request):
        answer = original(self, request)
        if "error" in answer and self.backend is not None:
            self.backend.binds = []
        return answer


@fault(
    "BACKEND-RULE-18",
    "directories above a file that must not be read can be moved",
    "only those above files that must not be written are mounts",
)
def what_is_hidden_can_be_moved():
    @replaces(Bubblewrap)
    def writable_in(original, self, root, given, mounted):
        kept = [path for path in mounted if is_denied(given, "modify", path, root)]
        return original(self, root, given, kept)


@fault("BACKEND-RULE-18", "only the first call binds what is above", "set-up that runs once")
def only_the_first_call_binds_what_is_above():
    @replaces(Bubblewrap)
    def wrap(original, self, argv, given, cwd):
        made = original(self, argv, given, cwd)
        threes = [self.binds[at : at + 3] for at in range(0, len(self.binds), 3)]
        above = [three for three in threes if three[:1] == [b"--bind"]]
        if above and all(len(three) == 3 for three in threes):
            self.binds = [word for three in threes if three not in above for word in three]
        return made


@fault("BACKEND-RULE-18", "only the directory of a hidden file is a mount", "dirname() once")
def one_directory_above_is_bound():
    @replaces(Bubblewrap)
    def writable_in(original, self, root, given, mounted):
        hidden = [path for path in mounted if is_denied(given, "read", path, root)]
        near = {os.path.dirname(path) for path in hidden}
        found = original(self, root, given, mounted)
        return [path for path in found if path in near] if hidden else found


@fault("BACKEND-RULE-19", "a name is checked as a path of a request", "the same function for both")
def names_are_checked():
    @replaces(Rules)
    def decision(original, self, op, path):
        return decide.check(self.resolved, op, os.fsencode(path), False)


@fault("BACKEND-RULE-19", "a name that is not UTF-8 ends the walk", "decode() of each name")
def names_are_decoded():
    @replaces(tree)
    def entries(original, root):
        for relative in original(root):
            relative.decode()
            yield relative


@fault("BACKEND-RULE-19", "a backslash in a name is a separator", "a path library for two systems")
def a_backslash_separates():
    @replaces(Rules)
    def decision(original, self, op, path):
        if "\\" in path:
            raise ValueError(f"{path}: a separator of another system")
        return original(self, op, path)


@fault("BACKEND-RULE-20", "a read-only mount covers the exceptions in it", "denies come last")
def exceptions_are_covered():
    @replaces(Rules)
    def exceptions(original, self):
        return []


@fault("BACKEND-RULE-20", "an exception for one file is left out", "removesuffix() decides")
def a_file_is_no_exception():
    @replaces(Rules)
    def exceptions(original, self):
        return [rule for rule in original(self) if rule.body.endswith("/**")]


@fault("BACKEND-RULE-20", "an exception also gives back what a later deny takes", "mounted last")
def exceptions_come_last():
    @replaces(Bubblewrap)
    def mounts(original, self, context, given, claims):
        made = original(self, context, given, claims)
        for rule in given.exceptions():
            path = os.path.join(context.root, os.fsencode(naming.plain(rule)))
            if os.path.exists(path):
                made += [b"--bind", path, path]
        return made


@fault("BACKEND-RULE-17", "the working directory gets no mount of its own", "a busy mount point")
def the_working_directory_gets_no_mount():
    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        left, at = [], 0
        while at < len(binds):
            size = 3 if binds[at] in (b"--ro-bind", b"--bind") else 2
            if size == 2 or binds[at + 2] != cwd or cwd == root:
                left += binds[at : at + size]
            at += size
        return original(self, argv, root, profile, cwd, left)
