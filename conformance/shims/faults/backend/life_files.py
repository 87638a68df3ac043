"""Faults that change or remove files of other programs in TMPDIR."""

import os

import backend.landlock as landlock
from backend.bubblewrap import Bubblewrap
from backend.claims import requested
from backend.session import Session
from faults.backend.temporary import case_directory
from faults.registry import fault, replaces


def directories():
    folder = case_directory()
    listed = os.scandir(folder) if folder else ()
    return [entry.path for entry in listed if entry.is_dir(follow_symlinks=False)]


@fault("BACKEND-LIFE-12", "all that appeared in TMPDIR during the session is removed", "a diff")
def removes_what_is_new():
    listed = {}

    @replaces(Bubblewrap)
    def prepare(original, self, context, claims):
        listed.update(dict.fromkeys(directories()))
        return original(self, context, claims)

    @replaces(Session)
    def close(original, self):
        was_open = self.prepared
        original(self)
        for path in directories() if was_open else ():
            if path not in listed:
                landlock.remove(path)


@fault("BACKEND-LIFE-12", "directories that look like leftovers are removed", "rm -rf tmp.*")
def removes_temporary_directories():
    @replaces(Bubblewrap)
    def prepare(original, self, context, claims):
        for path in directories():
            if os.path.basename(path).startswith(b"tmp."):
                landlock.remove(path)
        return original(self, context, claims)


@fault(
    "BACKEND-LIFE-12", "a name of the right length counts as a leftover", "strlen and no strncmp"
)
def any_name_of_that_length_is_a_leftover():
    @replaces(Bubblewrap)
    def prepare(original, self, context, claims):
        name = b"session-of-a-tool-" + os.urandom(4).hex().encode()
        for path in directories():
            if len(os.path.basename(path)) == len(name):
                landlock.remove(path)
        self.own = os.path.join(case_directory(), name) if case_directory() else None
        if self.own:
            os.mkdir(self.own)
        return original(self, context, claims)

    @replaces(Bubblewrap)
    def shutdown(original, self):
        original(self)
        if getattr(self, "own", None):
            os.rmdir(self.own)


@fault("BACKEND-LIFE-11", "a probe that leaves early leaves its file", "mkdtemp, then return")
def a_probe_leaves_its_file():
    @replaces(Bubblewrap)
    def probe(original, self, profile, given, egress):
        made = original(self, profile, given, egress)
        folder = case_directory()
        if folder and made.overall(requested(profile, egress, denies_reading=False)) != "fully":
            os.mkdir(os.path.join(folder, b"probe"))
        return made
