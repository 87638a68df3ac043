"""Faults about rules that are not enforced, rules on links, and rules with many matches."""

import os

import backend.bubblewrap as bubblewrap
import backend.context as context_
import backend.naming as naming
import backend.ops as ops
import backend.tree as tree
from backend.bubblewrap import Bubblewrap
from backend.session import Session
from faults.registry import fault, replaces


@fault("BACKEND-RULE-11", "a rule that is not enforced does not lower the claim", "a list, unread")
def named_rules_do_not_count():
    @replaces(Bubblewrap)
    def lacks_rule(original, self, made, aspect, rule, why, late=False):
        made.not_enforced.append(naming.unenforced(rule, why))


@fault(
    "BACKEND-RULE-11",
    "a rule for an absent path does not lower the claim",
    "an absent path is named, and claimed fully",
)
def absent_paths_do_not_count():
    @replaces(Bubblewrap)
    def report_absent(original, self, context, given, claims):
        before = dict(claims.aspects)
        original(self, context, given, claims)
        claims.aspects = before


@fault(
    "BACKEND-RULE-11",
    "the claim of the probe is kept after prepare",
    "prepare finds a rule, and the claim is not updated",
)
def what_prepare_finds_does_not_count():
    @replaces(Session)
    def held_here(original, self, overall):
        return overall


@fault(
    "BACKEND-RULE-11",
    "a rule for a symbolic link is not reported although the link can be replaced",
    "rm link; mkdir link",
)
def links_that_can_be_replaced_are_not_named():
    @replaces(Bubblewrap)
    def leads_through_link(original, self, path):
        return False

    @replaces(Bubblewrap)
    def report_link(original, self, relative, context, given, claims):
        pass


@fault(
    "BACKEND-RULE-12",
    "names below a link in the workspace are not searched for matches",
    "lstat() and S_ISREG",
)
def names_through_links_are_forgotten():
    @replaces(tree.InnerLinks)
    def names(original, self, relative, used=()):
        return iter(())


@fault("BACKEND-RULE-12", "only the first link of a chain is followed", "readlink() for realpath()")
def a_second_link_is_not_followed():
    @replaces(tree.InnerLinks)
    def names(original, self, relative, used=()):
        return original(self, relative, used) if not used else iter(())


@fault(
    "BACKEND-RULE-11",
    "a rule for a link that leads outside is not reported",
    "only links inside are looked at",
)
def links_that_lead_out_are_not_named():
    @replaces(Bubblewrap)
    def report_link(original, self, relative, context, given, claims):
        real = os.path.realpath(os.path.join(context.root, relative))
        if tree.is_below(real, context.root):
            original(self, relative, context, given, claims)

    @replaces(Bubblewrap)
    def report_absent(original, self, context, given, claims):
        before, named = dict(claims.aspects), list(claims.not_enforced)
        original(self, context, given, claims)
        if any("leads out" in each["why"] for each in claims.not_enforced):
            claims.aspects, claims.not_enforced = before, named


@fault(
    "BACKEND-RULE-14",
    "a link that leads outside is looked up only by its own name",
    "a link in a directory to which another link leads",
)
def links_in_linked_directories_are_not_named():
    @replaces(Bubblewrap)
    def report_link(original, self, relative, context, given, claims):
        links, self.links = self.links, None
        original(self, relative, context, given, claims)
        self.links = links


@fault(
    "BACKEND-RULE-13",
    "links in circles make prepare search for names without an end",
    "a depth-first search with a limit on the depth only",
)
def circles_of_links_have_no_limit():
    @replaces(tree.InnerLinks)
    def names(original, self, relative, used=()):
        self.left = 10**9
        return original(self, relative, used)


@fault("BACKEND-RULE-13", "too many matches make prepare fail", "E2BIG, and degrade")
def many_matches_are_an_error():
    @replaces(Bubblewrap)
    def cut(original, self, kept, hidden, context, given, claims):
        if len(kept) + len(hidden) > bubblewrap.MOST_MOUNTS // 2:
            raise ValueError("the policy needs too many mounts")


@fault(
    "BACKEND-RULE-13",
    "the number of mounts is limited, and the size of the command line is not",
    "E2BIG at the start of each program",
)
def long_paths_do_not_fit():
    bubblewrap.MOST_MOUNTS = 2400


@fault(
    "BACKEND-RULE-13",
    "matches above the limit are dropped without a report",
    "a list cut at its end",
)
def matches_are_cut_silently():
    @replaces(Bubblewrap)
    def cut(original, self, kept, hidden, context, given, claims):
        named, aspects = list(claims.not_enforced), dict(claims.aspects)
        original(self, kept, hidden, context, given, claims)
        claims.not_enforced, claims.aspects = named, aspects


@fault("BACKEND-RULE-14", "accept has no effect", "a field without an effect")
def accept_has_no_effect():
    @replaces(Bubblewrap)
    def lacks_rule(original, self, made, aspect, rule, why, late=False):
        original(self, made, aspect, rule, why)


@fault(
    "BACKEND-RULE-14",
    "accept allows every rule to fail, whatever the reason",
    "one flag for all reasons",
)
def accept_accepts_everything():
    @replaces(Bubblewrap)
    def lacks_rule(original, self, made, aspect, rule, why, late=False):
        original(self, made, aspect, rule, why, late=True)


@fault("BACKEND-RULE-14", "any word in accept accepts late names", "a list that is not empty")
def any_word_accepts_late_names():
    def read_accept(reader):
        return bool(reader.take("accept", list))

    context_.read_accept = ops.read_accept = read_accept


@fault("BACKEND-RULE-11", "a question mark in a rule is an ordinary character", "only stars")
def a_question_mark_is_a_name():
    naming.WILD = "*"


@fault("BACKEND-RULE-11", "a pattern that is the name of a file is that file", "if exists(rule):")
def a_pattern_may_be_a_name():
    @replaces(Bubblewrap)
    def prepare(original, self, context, claims):
        @replaces(naming)
        def is_wild(before, rule):
            path = os.path.join(context.root, os.fsencode(naming.plain(rule)))
            return before(rule) and not os.path.lexists(path)

        # The claims are made again, now that the workspace is known.
        claims.aspects["fs-write"] = ("fully", [])
        if context.rules:
            self.claim_rules(claims, context.rules, context.profile)
        original(self, context, claims)


@fault("BACKEND-RULE-14", "an accepted rule is not reported", "consent taken for silence")
def accepted_rules_are_not_named():
    @replaces(Bubblewrap)
    def lacks_rule(original, self, made, aspect, rule, why, late=False):
        if not (late and self.accepts_late_names):
            original(self, made, aspect, rule, why, late)


@fault("BACKEND-RULE-14", "files below 40 directories are not looked at", "a limit of depth")
def deep_files_are_not_looked_at():
    @replaces(tree)
    def entries(original, root):
        return (path for path in original(root) if path.count(b"/") < 40)


@fault("BACKEND-RULE-21", "a second mount in the root is not protected", "a path is a file")
def mounts_in_the_root_are_forgotten():
    @replaces(tree)
    def mounted_names(original, root):
        return [pair for pair in original(root) if not tree.is_below(pair[1], root)]


@fault("BACKEND-RULE-21", "a second mount outside is not hidden", "the walk ends at the root")
def mounts_outside_are_forgotten():
    @replaces(tree)
    def mounted_names(original, root):
        return [pair for pair in original(root) if tree.is_below(pair[1], root)]


@fault("BACKEND-RULE-21", "mounts below a denied directory are not hidden", "one test is missing")
def mounts_below_a_denied_directory_are_forgotten():
    @replaces(Bubblewrap)
    def seen_through(original, self, mounted, paths):
        found = []
        for path in paths:
            around = [pair for pair in mounted if tree.is_below(path, pair[0])]
            found += original(self, around, [path])
        return found
