"""Faults in rules about files of some kinds, in several rules, and in a preparation."""

import os

import backend.naming as naming
import backend.tree as tree
from backend.bubblewrap import Bubblewrap
from faults.registry import fault, replaces


@fault("BACKEND-RULE-01", "an empty file is not protected", "if size:")
def empty_files_are_not_kept():
    @replaces(Bubblewrap)
    def keep(original, self, path):
        if os.path.isfile(path) and os.path.getsize(path) == 0:
            return []
        return original(self, path)


@fault("BACKEND-RULE-01", "an empty directory is not protected", "git has none")
def empty_directories_are_not_kept():
    @replaces(Bubblewrap)
    def keep(original, self, path):
        if os.path.isdir(path) and not os.listdir(path):
            return []
        return original(self, path)


@fault("BACKEND-RULE-01", "only 16 levels of directories are walked", "maxdepth")
def deep_files_are_not_seen():
    @replaces(tree)
    def entries(original, root):
        return (each for each in original(root) if each.count(b"/") < 16)


@fault("BACKEND-RULE-01", "names that editors make for locks are skipped", "a list of ignores")
def names_of_editors_are_skipped():
    @replaces(tree)
    def entries(original, root):
        return (each for each in original(root) if not os.path.basename(each).startswith(b".#"))


@fault("BACKEND-RULE-01", "names with blanks are skipped", "split()")
def names_with_blanks_are_skipped():
    @replaces(tree)
    def entries(original, root):
        return (each for each in original(root) if len(each.split()) == 1)


@fault("BACKEND-RULE-03", "only the first rule that is not enforced is named", "break")
def one_rule_is_named():
    @replaces(Bubblewrap)
    def by_aspect(original, self, given, profile):
        return [(aspect, rules[:1]) for aspect, rules in original(self, given, profile)]


@fault("BACKEND-RULE-12", "a link whose target is missing is not reported", "exists()")
def dangling_links_are_not_reported():
    @replaces(Bubblewrap)
    def report_link(original, self, relative, context, given, claims):
        if os.path.exists(os.path.join(context.root, relative)):
            original(self, relative, context, given, claims)


@fault("BACKEND-RULE-07", "hard links in hidden directories are not named", "a glob of *")
def links_in_hidden_directories_are_not_named():
    @replaces(tree)
    def missing_links(original, root):
        return [path for path in original(root) if b"/." not in path[len(root) :]]


@fault("BACKEND-RULE-07", "only 256 files with links outside are named", "a report's limit")
def only_some_links_are_named():
    @replaces(tree)
    def missing_links(original, root):
        return original(root)[:256]


@fault("BACKEND-RULE-04", "an absent name is made, and removed at once", "to test whether it can")
def absent_names_are_tried():
    @replaces(Bubblewrap)
    def report_absent(original, self, context, given, claims):
        original(self, context, given, claims)
        for rule in given.deny_modify:
            path = os.path.join(context.root, os.fsencode(naming.plain(rule)))
            if not naming.is_wild(rule) and not os.path.lexists(path):
                os.close(os.open(path, os.O_CREAT))
                os.unlink(path)
