"""Faults about a rule in combination with a directory, another rule, a link or another profile."""

import json
import os

import backend.naming as naming
import backend.rules as rules
import backend.tree as tree
from backend.bubblewrap import Bubblewrap
from backend.rules import Rules
from faults.registry import changed, fault, replaces


@fault("BACKEND-RULE-06", "only directories are hidden, not files", "only a tmpfs over each")
def files_are_not_hidden():
    @replaces(Bubblewrap)
    def hide(original, self, path):
        return original(self, path) if os.path.isdir(path) else []


@fault("BACKEND-RULE-06", "a read-only mount uncovers a hidden path", "sorted by kind")
def what_is_hidden_is_uncovered():
    @replaces(Bubblewrap)
    def mounts(original, self, context, given, claims):
        made = original(self, context, given, claims)
        hidden = [word for path in self.hidden(context.root, given) for word in self.hide(path)]
        return [*hidden, *made[: len(made) - len(hidden)]]


@fault("BACKEND-RULE-06", "rules are not applied to a read-only workspace", "if writable: mounts()")
def a_read_only_workspace_has_no_rules():
    @replaces(Bubblewrap)
    def mounts(original, self, context, given, claims):
        return [] if context.profile == "read-only" else original(self, context, given, claims)


@fault("BACKEND-RULE-01", "rules are applied only under repo-write", "a branch for each profile")
def rules_are_for_one_profile():
    @replaces(Bubblewrap)
    def mounts(original, self, context, given, claims):
        # The rules still hold under read-only, because another requirement tests hidden files in a
        # read-only workspace.
        known = context.profile in ("repo-write", "read-only")
        return original(self, context, given, claims) if known else []


@fault(
    "BACKEND-RULE-01",
    "only files are mounted over, not directories",
    "ls-files of the denied paths",
)
def directories_are_not_mounted():
    @replaces(Bubblewrap)
    def mounts(original, self, context, given, claims):
        made = original(self, context, given, claims)
        at = 0
        while at < len(made):
            twice = made[at] == b"--ro-bind" and made[at + 1] == made[at + 2] != context.root
            if twice and os.path.isdir(made[at + 1]):
                del made[at : at + 3]
            else:
                at += 1
        return made


@fault("BACKEND-RULE-01", "grants are mounted after the denies", "two loops, the wrong way round")
def grants_come_last():
    @replaces(Bubblewrap)
    def mounts(original, self, context, given, claims):
        made = original(self, context, given, claims)
        if "**" in given.grants or context.profile == "read-only":
            return made
        return made + [word for body in given.grants for word in self.grant(context.root, body)]


@fault("BACKEND-RULE-01", "the cache is mounted over denied paths in it", "mounted last")
def the_cache_covers_what_is_denied():
    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        more = self.cache(root) if profile == "full-dev" else []
        return original(self, argv, root, profile, cwd, [*binds, *more])


@fault("BACKEND-RULE-01", "negated rules of the profile are ignored", "only denyModify counts")
def negations_of_a_profile_are_ignored():
    @replaces(Rules)
    def denied(original, self, op, path):
        entries = self.resolved.modify
        own = [each for each in entries if each.origin == "profile" and each.sign == "-"]
        with changed(self.resolved, modify=[each for each in entries if each not in own]):
            return original(self, op, path)


@fault("BACKEND-RULE-01", "the workspace's policy replaces the host's", "the nearest file wins")
def the_workspace_replaces_the_host():
    @replaces(rules)
    def rules_of(original, value, pointer):
        own = value.get("workspace")
        return original(value if own is None else {**own, "fs_profile": "p"}, pointer)


@fault(
    "BACKEND-RULE-01",
    "the first profile of the policy is always used",
    "fs_profile is not handed on",
)
def the_first_profile_is_the_one():
    @replaces(rules)
    def rules_of(original, value, pointer):
        first = next(iter(json.loads(value["text"])["spec"]["fsProfiles"]))
        return original({**value, "fs_profile": first}, pointer)


@fault("BACKEND-RULE-01", "a name with a blank is not found", "mountinfo has \\040 for it")
def denied_names_with_blanks_are_not_found():
    @replaces(Rules)
    def denied(original, self, op, path):
        return " " not in path and original(self, op, path)


@fault(
    "BACKEND-RULE-02",
    "only the direct parent of a denied file is kept from being renamed",
    "dirname() once",
)
def directories_further_up_are_not_bound():
    @replaces(Bubblewrap)
    def ancestors(original, self, paths, root):
        return sorted({os.path.dirname(path) for path in paths} - {root})


@fault(
    "BACKEND-RULE-03",
    "read rules that are not enforced are not reported",
    "one list of two is searched",
)
def rules_on_reading_are_not_told():
    @replaces(Bubblewrap)
    def report_absent(original, self, context, given, claims):
        original(self, context, given, claims)
        read = {rule.body for rule in given.deny_read}
        claims.not_enforced = [each for each in claims.not_enforced if each["rule"] not in read]


@fault(
    "BACKEND-RULE-03",
    "negated rules of the profile that are not enforced are not reported",
    "only denyModify is searched",
)
def negations_of_a_profile_are_not_told():
    @replaces(rules)
    def negated(original, entries):
        return []


@fault("BACKEND-RULE-04", "granted paths are created", "a bind needs its source")
def grants_are_made():
    @replaces(Bubblewrap)
    def grant(original, self, root, body):
        path = os.path.join(root, os.fsencode(body.removesuffix("/**")))
        if not any(letter in body.removesuffix("/**") for letter in naming.WILD):
            os.makedirs(path, exist_ok=True)
        return original(self, root, body)


@fault(
    "BACKEND-RULE-01",
    "a directory that cannot be listed counts as empty",
    "os.walk() without onerror",
)
def a_closed_directory_is_empty():
    @replaces(tree)
    def closed(original, root):
        return iter(())


@fault("BACKEND-RULE-03", "a deny of a directory covers only its contents", "its own mode is left")
def a_directory_is_what_lies_in_it():
    @replaces(Bubblewrap)
    def mounts(original, self, context, given, claims):
        made = original(self, context, given, claims)
        for at in range(len(made) - 2):
            if made[at] == b"--ro-bind" and os.path.isdir(made[at + 1]):
                below = os.path.relpath(made[at + 1] + b"/new", context.root)
                if not given.denied("modify", os.fsdecode(below)):
                    made[at] = b"--bind"
        return made
