"""Faults in enforcing policies."""

import os

import backend.rules as rules
import backend.tree as tree
from backend.bubblewrap import Bubblewrap
from backend.rules import Rules
from backend.session import Session
from faults.registry import fault, replaces


@fault("BACKEND-RULE-01", "deny rules are ignored", "only the profile counts")
def denies_are_ignored():
    @replaces(Rules)
    def denied(original, self, op, path):
        return op == "read" and original(self, op, path)


@fault(
    "BACKEND-RULE-02",
    "the directories above a denied file can be renamed",
    "renaming its directory uncovers it",
)
def ancestors_are_not_bound():
    @replaces(Bubblewrap)
    def ancestors(original, self, paths, root):
        return []


@fault("BACKEND-RULE-03", "a deny with wildcards is ignored without a report", "filter(exists)")
def globs_are_dropped():
    @replaces(Bubblewrap)
    def claim_rules(original, self, made, given, profile):
        if given.deny_read:
            made.fully("fs-read")


@fault(
    "BACKEND-RULE-03", "a name that is created later is ignored without a report", "filter(exists)"
)
def late_names_are_dropped():
    @replaces(Bubblewrap)
    def report_absent(original, self, context, given, claims):
        pass


def denies_also_bind(which, words):
    """Add a mount with the arguments `words` for each denied path for which `which` is true."""

    @replaces(Bubblewrap)
    def mounts(original, self, context, given, claims):
        made = original(self, context, given, claims)
        for rule in given.deny_modify:
            path = os.path.join(context.root, os.fsencode(rule.body))
            if which(path):
                made += [*words, path]
        return made


@fault("BACKEND-RULE-04", "denied names that do not exist are created", "late creation")
def absent_names_are_made():
    denies_also_bind(
        lambda path: not os.path.lexists(path) and b"*" not in path, [b"--ro-bind", b"/dev/null"]
    )


@fault(
    "BACKEND-RULE-05",
    "a grant through a link is bound at the target of the link",
    "symlinked target",
)
def grants_follow_links():
    @replaces(Bubblewrap)
    def grant(original, self, root, body):
        path = os.path.realpath(os.path.join(root, os.fsencode(body.removesuffix("/**"))))
        return [b"--bind", path, path] if os.path.exists(path) else []


@fault("BACKEND-RULE-06", "paths with a read deny are made read-only", "one list for both")
def read_denies_are_read_only():
    @replaces(Bubblewrap)
    def hide(original, self, path):
        return [b"--ro-bind", path, path]


@fault("BACKEND-RULE-07", "other hard links of a denied file are ignored", "paths are all there is")
def links_are_not_counted():
    @replaces(Session)
    def hard_links(original, self):
        return []


@fault("BACKEND-RULE-07", "a path through a mount counts as a hard link", "paths are names")
def paths_through_mounts_are_counted():
    @replaces(tree)
    def repeats(original, path, mounted):
        return False


@fault(
    "BACKEND-RULE-08", "names that begin with a dot are left out", "globs that skip hidden files"
)
def hidden_files_are_left_out():
    @replaces(Rules)
    def denied(original, self, op, path):
        hidden = path.startswith(".") or "/." in path
        return not hidden and original(self, op, path)


@fault("BACKEND-RULE-09", "mounts below a denied directory stay visible", "no AT_RECURSIVE")
def mounts_below_a_denied_one_are_forgotten():
    @replaces(Bubblewrap)
    def wrap(original, self, argv, context, cwd):
        made, added = original(self, argv, context, cwd)
        with open("/proc/self/mountinfo", "rb") as lines:
            places = [line.split()[4] for line in lines]
        below = [each for each in places if each.startswith(context.root + b"/")]
        at = made.index(b"--chdir")
        more = [word for each in below for word in (b"--bind", each, each)]
        return [*made[:at], *more, *made[at:]], added


@fault("BACKEND-RULE-07", "hard links are searched only at the top of the root", "listdir for walk")
def links_of_folders_are_missed():
    @replaces(Session)
    def hard_links(original, self):
        root = self.context.root
        return [path for path in original(self) if os.path.dirname(path) == root]


@fault(
    "BACKEND-RULE-03",
    "rules of the workspace file that are not enforced are not reported",
    "only the policy's own file is read",
)
def rules_of_the_workspace_are_not_told():
    @replaces(rules)
    def rules_of(original, value, pointer):
        own = {name: each for name, each in value.items() if name != "workspace"}
        alone, found = original(own, pointer), original(value, pointer)
        known = {rule.body for rule in (*alone.deny_modify, *alone.deny_read)}
        found.deny_modify = [rule for rule in found.deny_modify if rule.body in known]
        found.deny_read = [rule for rule in found.deny_read if rule.body in known]
        return found


@fault("BACKEND-RULE-08", "a .git that is a file is left unprotected", "a worktree is no directory")
def git_files_are_forgotten():
    @replaces(Bubblewrap)
    def mounts(original, self, context, given, claims):
        made = original(self, context, given, claims)
        git = os.path.join(context.root, b".git")
        if git not in made or not os.path.isfile(git):
            return made
        at = made.index(git)
        return [*made[: at - 1], *made[at + 2 :]]


@fault(
    "BACKEND-RULE-08",
    "a denied directory that is a symbolic link makes the start fail",
    "mkdir, and no stat",
)
def links_end_the_start():
    denies_also_bind(
        lambda path: os.path.islink(path) and os.path.isdir(path), [b"--symlink", b"elsewhere"]
    )


@fault("BACKEND-RULE-15", "a hidden directory can be written to", "--tmpfs without --remount-ro")
def a_hidden_directory_takes_writes():
    @replaces(Bubblewrap)
    def hide(original, self, path):
        return [b"--tmpfs", path] if os.path.isdir(path) else original(self, path)


@fault(
    "BACKEND-RULE-16",
    "missing parents of a denied path are created",
    "os.makedirs for a mount point",
)
def parents_of_a_denied_path_are_made():
    @replaces(Bubblewrap)
    def report_absent(original, self, context, given, claims):
        for rule in given.deny_modify:
            path = os.path.join(os.fsdecode(context.root), rule.body.removesuffix("/**"))
            made = os.path.dirname(path)
            if not os.path.isdir(made) and os.path.islink(os.path.dirname(made)):
                os.makedirs(made)
                os.rmdir(made)
        original(self, context, given, claims)


@fault(
    "BACKEND-RULE-06", "the root has a second mount, without the rules", "a bind at a fixed place"
)
def the_root_is_shown_twice():
    @replaces(Bubblewrap)
    def wrap(original, self, argv, context, cwd):
        made, added = original(self, argv, context, cwd)
        at = made.index(b"--chdir")
        return [*made[:at], b"--ro-bind", context.root, b"/mnt", *made[at:]], added


@fault("BACKEND-RULE-07", "hard links are searched only under a policy", "a part of the rules")
def links_are_a_matter_of_rules():
    @replaces(Session)
    def hard_links(original, self):
        return original(self) if self.context.rules is not None else []
