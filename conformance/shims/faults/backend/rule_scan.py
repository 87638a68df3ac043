"""Faults in the scan after a run.

A mount protects the files below it, so they never change. Faults about files that exist before the
start therefore leave out the mounts, and report the rules as not enforced.
"""

import os
import stat
from binascii import a2b_base64

import backend.naming as naming
import backend.tree as tree
from backend.bubblewrap import Bubblewrap
from backend.session import Session, in_base64
from faults.registry import fault, replaces
from files import read_file


def holds_nothing():
    @replaces(Bubblewrap)
    def mounts(original, self, context, given, claims):
        claims.not_enforced += [
            naming.unenforced(rule, "rules are not mounted") for rule in given.deny_modify
        ]
        return []


def sees(*fields):
    """Compare only these fields of each file."""
    holds_nothing()

    @replaces(tree)
    def state(original, root):
        return {
            path: tuple(getattr(os.lstat(os.path.join(root, path)), name) for name in fields)
            for path in tree.entries(root)
        }


@fault("BACKEND-RULE-10", "there is no scan after the run", "the report of the start is enough")
def nobody_looks():
    @replaces(Session)
    def violations(original, self, before):
        return []


@fault("BACKEND-RULE-10", "the scan compares only names", "a list of files before and after")
def names_alone():
    sees()


@fault("BACKEND-RULE-10", "the scan compares only size and time", "as make and rsync do")
def size_and_time():
    sees("st_size", "st_mtime_ns")


@fault("BACKEND-RULE-10", "a removed file counts as unchanged", "a walk of the remaining files")
def what_is_gone_is_unchanged():
    holds_nothing()

    @replaces(Session)
    def violations(original, self, before):
        there = tree.state(self.context.root)
        return original(self, {path: facts for path, facts in before.items() if path in there})


@fault(
    "BACKEND-RULE-10", "changes of any file are reported as violations", "git status --porcelain"
)
def all_that_has_changed():
    @replaces(Session)
    def violations(original, self, before):
        after = tree.state(self.context.root)
        return [
            {"path_b64": in_base64(os.path.join(self.context.root, path)), "rule": "**"}
            for path in sorted({**before, **after})
            if before.get(path) != after.get(path)
        ]


@fault("BACKEND-RULE-10", "a violation does not name its rule", "the path says it all")
def the_rule_is_not_told():
    @replaces(Session)
    def violations(original, self, before):
        return [{**each, "rule": "denyModify"} for each in original(self, before)]


@fault("BACKEND-RULE-10", "a link is compared by its target's content", "os.stat() for os.lstat()")
def a_link_is_what_it_leads_to():
    @replaces(tree)
    def state(original, root):
        return {
            path: facts
            for path, facts in original(root).items()
            if not stat.S_ISLNK(os.lstat(os.path.join(root, path)).st_mode)
        }


@fault("BACKEND-RULE-10", "each violation names the first rule", "rules.find() by any of them")
def the_first_rule_is_told():
    @replaces(Session)
    def violations(original, self, before):
        made = original(self, before)
        return [{**each, "rule": made[-1]["rule"]} for each in made]


@fault(
    "BACKEND-RULE-10",
    "violations have paths relative to the root",
    "relpath(), as the rules have them",
)
def paths_below_the_root():
    @replaces(Session)
    def violations(original, self, before):
        prefix = len(self.context.root) + 1
        return [
            {**each, "path_b64": in_base64(a2b_base64(each["path_b64"])[prefix:])}
            for each in original(self, before)
        ]


@fault("BACKEND-RULE-10", "a change of the mode is overlooked", "a digest of each file")
def the_mode_is_overlooked():
    holds_nothing()

    @replaces(tree)
    def state(original, root):
        found = {}
        for path in tree.entries(root):
            place = os.fsdecode(os.path.join(root, path))
            st = os.lstat(place)
            data = read_file(place) if stat.S_ISREG(st.st_mode) else b""
            found[path] = (st.st_ino, st.st_size, st.st_mtime_ns, data)
        return found


@fault("BACKEND-RULE-10", "only the last call is scanned", "the start is noted for each call")
def the_last_call_is_scanned():
    before_the_last: dict[str, dict[bytes, tuple[int, ...]]] = {}

    @replaces(Session)
    def call(original, self, request):
        if self.context.rules is not None:
            before_the_last["is"] = tree.state(self.context.root)
        return original(self, request)

    @replaces(Session)
    def violations(original, self, before):
        return original(self, before_the_last.get("is", before))


@fault("BACKEND-RULE-10", "only the first call is scanned", "a scan after the first result")
def the_first_call_is_scanned():
    @replaces(Session)
    def call(original, self, request):
        before = tree.state(self.context.root) if self.context.rules is not None else {}
        answer = original(self, request)
        if not hasattr(self, "found"):
            self.found = self.violations(before)
        return answer

    @replaces(Session)
    def report(original, self, opened, calls, before):
        return {**original(self, opened, calls, before), "violations": getattr(self, "found", [])}


@fault("BACKEND-RULE-10", "after an error of a call there is no scan", "an early return")
def an_error_skips_the_scan():
    @replaces(Session)
    def report(original, self, opened, calls, before):
        made = original(self, opened, calls, before)
        return {**made, "violations": []} if any("error" in each for each in calls) else made
