"""Faults of kinds that occur in any engine, by the table of the contract."""

import os

import policy.decide as decide
import policy.real as real
from errors import Failed
from faults.registry import fault, replaces

# Kind C12 of contracts/kinds-policy.yaml: edges of paths and files

LONGEST = 255  # bytes of a name


@fault(
    "POLICY-REAL-07",
    "a missing target of a link is resolved from the root",
    "the parent by its name",
)
def parent_of_a_missing_target_by_name():
    @replaces(real)
    def walk(original, start, wanted, follow="final"):
        try:
            whole = original(start, wanted, follow)
        except real.Failed:
            raise
        if not os.path.lexists(b"/" + b"/".join(whole)) and len(wanted) > 2:
            # Resolve the path without its last two names, and append these names without following
            # links.
            return [*original(start, wanted[:-2], follow), *wanted[-2:]]
        return whole


@fault(
    "POLICY-REAL-08", "only the first link of a deny is followed", "readlink() in place of a walk"
)
def denies_follow_one_link():
    @replaces(real)
    def where_it_leads(original, root, body):
        names = body.split("/")
        for count in range(1, len(names) + 1):
            path = b"/" + b"/".join([*root.real, *(name.encode() for name in names[:count])])
            if os.path.islink(path):
                there = os.path.join(os.path.dirname(path), os.readlink(path))
                below = os.path.relpath(os.path.normpath(there), b"/" + b"/".join(root.real))
                return "/".join([below.decode(), *names[count:]])
        return original(root, body)


@fault("POLICY-REAL-08", "denies of denyModify are not resolved", "the list for reading is first")
def denies_of_modifying_are_not_resolved():
    @replaces(real)
    def at_its_place(original, root, entry):
        return entry if entry.origin == "denyModify" else original(root, entry)


@fault("POLICY-REAL-08", "a resolved deny does not fold", "a second matcher with the default")
def resolved_denies_do_not_fold():
    @replaces(real.Linked)
    def matches(original, self, text, fold):
        return decide.Entry.matches(self, text, fold) or self.there.matches(text, False)


@fault("POLICY-REAL-09", "a name that is too long is missing", "any error of lstat()")
def too_long_is_missing():
    @replaces(real)
    def link_at(original, place, name):
        return original(place, name) if len(name) <= LONGEST else None


@fault("POLICY-REAL-09", "a name may have 255 characters", "len() of a text")
def lengths_are_characters():
    @replaces(real)
    def link_at(original, place, name):
        short = len(name) > LONGEST and len(name.decode()) <= LONGEST
        return None if short else original(place, name)


@fault("POLICY-REAL-09", "what cannot be looked up is decided as written", "except: pass")
def too_long_is_decided_as_written():
    @replaces(real)
    def check_resolved(original, resolved, op, data, fold, root, follow):
        try:
            return original(resolved, op, data, fold, root, follow)
        except real.NoPlace as why:
            if "too long" not in why.message:
                raise
            path = real.path_of(root, data) or ""
            return decide.decide(resolved.entries(op), path, fold).as_json() | {"real": path}


@fault("POLICY-REAL-09", "only the length of each name is checked", "openat() name by name")
def a_path_may_have_any_length():
    @replaces(real)
    def refuse_long(original, path):
        pass


@fault("POLICY-REAL-04", "a path below a file is refused", "ENOTDIR is an error")
def below_a_file_is_an_error():
    @replaces(real)
    def link_at(original, place, name):
        if os.path.isfile(b"/" + b"/".join(place)):
            raise Failed("io", "not a directory")
        return original(place, name)
