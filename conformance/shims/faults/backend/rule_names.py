"""Faults about files with two names, pipes, and directories above the root."""

import os

import backend.planned as planned
import backend.tree as tree
from backend.bubblewrap import Bubblewrap
from backend.rules import Rules
from faults.registry import fault, replaces


@fault(
    "BACKEND-RULE-01",
    "a denied file can be changed through another hard link",
    "a mount for each path that is denied",
)
def other_names_are_other_files():
    @replaces(tree)
    def other_names(original, root, paths):
        return iter(())


@fault(
    "BACKEND-RULE-01",
    "a denied named pipe is only mounted read-only",
    "EROFS is for files and directories",
)
def pipes_are_mounted_read_only():
    @replaces(tree)
    def is_channel(original, path):
        return False


@fault(
    "BACKEND-RULE-02", "directories between cache and root can be renamed", "only the root is bound"
)
def the_way_to_the_root_is_not_bound():
    @replaces(Bubblewrap)
    def between(original, self, cache, root):
        return []


@fault(
    "BACKEND-RULE-03",
    "a grant with a pattern grants the directory of the pattern",
    "dirname() of the rule",
)
def patterns_grant_their_directory():
    @replaces(Bubblewrap)
    def mounts(original, self, context, given, claims):
        made = original(self, context, given, claims)
        for body in given.grants:
            path = os.path.join(context.root, os.fsencode(os.path.dirname(body)))
            if body.endswith("/*") and os.path.isdir(path):
                made += [b"--bind", path, path]
        return made

    @replaces(Rules)
    def wild_grants(original, self):
        return [each for each in original(self) if not each.body.endswith("/*")]


@fault(
    "BACKEND-RULE-01",
    "a directory that cannot be listed is made read-only",
    "its contents are unknown",
)
def the_closed_is_read_only():
    @replaces(Bubblewrap)
    def keep(original, self, path):
        return [b"--ro-bind", path, path] if os.path.isdir(path) else original(self, path)


@fault(
    "BACKEND-RULE-05", "grants are not checked again before each call", "realpath() only in prepare"
)
def grants_are_looked_at_once():
    @replaces(planned)
    def mounts(original, binds, root):
        return []


@fault(
    "BACKEND-RULE-22",
    "the places of mounts are resolved again when a program is started",
    "realpath() of each path",
)
def places_follow_links_at_the_start():
    @replaces(planned)
    def mounts(original, binds, root):
        return []

    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        resolved = [os.path.realpath(word) if word.startswith(b"/") else word for word in binds]
        return original(self, argv, root, profile, cwd, resolved)


@fault("BACKEND-RULE-06", "a name covers each name that begins with it", "startswith() without /")
def names_that_begin_alike_are_covered():
    @replaces(Bubblewrap)
    def hidden(original, self, root, given):
        found: list[bytes] = []
        for path in sorted(original(self, root, given)):
            if not any(path.startswith(each) for each in found):
                found.append(path)
        return found


@fault("BACKEND-RULE-01", "a name covers each name that begins with it", "startswith() without /")
def names_that_begin_alike_are_kept_once():
    @replaces(tree)
    def entries(original, root):
        found: list[bytes] = []
        for path in sorted(original(root)):
            if not any(path.startswith(each) and b"/" not in path[len(each) :] for each in found):
                found.append(path)
                yield path


@fault("BACKEND-RULE-01", "only one other hard link of a denied file is protected", "find -quit")
def one_other_name_is_protected():
    @replaces(tree)
    def other_names(original, root, paths):
        denied = [*paths]
        return iter([each for each in original(root, denied) if each not in denied][:1])
