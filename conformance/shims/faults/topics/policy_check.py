"""Mistakes in deciding."""

import policy.decide as deciding
import policy.ops as ops
import policy.real as real
import protocol
from errors import Failed
from policy.spelling import Refused
from registry import fault, replaces


def has_exception(entries):
    """Lists with an exception have requirements of their own."""
    return any(entry.sign == "except" for entry in entries)


def matching(entries, text, fold):
    return [entry for entry in entries if entry.matches(text, fold)]


def choosing(choose):
    @replaces(deciding)
    def last_match(original, entries, text, fold):
        found = [] if has_exception(entries) else matching(entries, text, fold)
        return choose(found) if found else original(entries, text, fold)


def changing(change):
    @replaces(deciding)
    def decide(original, entries, path, fold):
        decision = original(entries, path, fold)
        change(decision, entries)
        return decision

    real.decide = deciding.decide


@fault("POLICY-CHECK-01", "the first match wins", "firewalls")
def first_match_wins():
    choosing(lambda found: next((e for e in reversed(found) if is_deny(e)), found[0]))


@fault("POLICY-CHECK-01", "the longest rule wins", "most specific first")
def longest_rule_wins():
    def choose(found):
        return found[-1] if is_deny(found[-1]) else max(found, key=lambda e: len(e.rule.body))

    choosing(choose)


@fault("POLICY-CHECK-01", "a negated rule wins wherever it stands", "denies before allows")
def negated_rules_win():
    choosing(lambda found: next((e for e in reversed(found) if e.sign == "-"), found[-1]))


def is_deny(entry):
    return entry.origin != "profile"


@fault("POLICY-CHECK-02", "denies are looked at before the profile", "a deny list checked first")
def denies_come_first():
    choosing(lambda found: next((e for e in reversed(found) if not is_deny(e)), found[-1]))


@fault("POLICY-CHECK-02", "an exact rule of the profile beats a global deny", "specificity")
def exact_rule_beats_a_deny():
    choosing(
        lambda found: next(
            (e for e in found if e.sign == "+" and "*" not in e.rule.body), found[-1]
        )
    )


@fault("POLICY-CHECK-03", "an empty list allows everything", "no restriction means free")
def empty_list_allows():
    def change(decision, entries):
        if not deciding.of_profile(entries) and decision.deciding is None:
            decision.allowed = True

    changing(change)


@fault("POLICY-CHECK-03", "what no rule matches is allowed", "a deny list at heart")
def no_match_allows():
    def change(decision, entries):
        if decision.deciding is None and not has_exception(entries):
            decision.allowed = True

    changing(change)


@fault("POLICY-CHECK-04", "a denyRead denies modify, too", "common sense, not the contract")
def deny_read_denies_modify():
    @replaces(ops.Asked)
    def profile(original, self, name):
        resolved = original(self, name)
        mine = [entry for entry in resolved.modify if entry.origin == "denyRead"]
        if not mine and not has_exception(resolved.modify):
            denied = [entry for entry in resolved.read if is_deny(entry)]
            resolved.modify = [*resolved.modify, *denied] if denied else resolved.modify
        return resolved


@fault("POLICY-CHECK-04", "modify asks the read list", "one list for both")
def modify_asks_the_read_list():
    @replaces(deciding)
    def check(original, resolved, op, data, fold):
        return original(resolved, op if has_exception(resolved.modify) else "read", data, fold)


@fault("POLICY-CHECK-05", "matched_rule of a deny has its `!`", "the entry as it stands")
def matched_rule_with_sign():
    @replaces(deciding)
    def named(original, entry):
        return "!" + original(entry) if entry.sign == "-" else original(entry)

    @replaces(deciding.Entry)
    def as_json(original, self):
        told = original(self)
        return "!" + told.lstrip("!") if self.sign == "-" else told


@fault("POLICY-CHECK-05", "matched_rule is the first that agrees", "found, then looked up")
def matched_rule_is_the_first_that_agrees():
    @replaces(deciding)
    def decide(original, entries, path, fold):
        decision = original(entries, path, fold)
        if decision.deciding is not None and not has_exception(entries):
            text = deciding.glob.Text(path, fold)
            found = matching(entries, text, fold)
            first = next(e for e in found if e.sign == decision.deciding.sign)
            decision.matched_rule = deciding.named(first)
        return decision

    real.decide = deciding.decide


@fault("POLICY-CHECK-06", "nothing matched is always <no matching rule>", "one constant")
def one_word_for_no_match():
    deciding.NOTHING_ALLOWED = deciding.NOTHING_MATCHED


@fault("POLICY-CHECK-06", "only an empty list is `[]`", "len(list) == 0")
def only_an_empty_list_is_brackets():
    @replaces(deciding)
    def when_nothing_matched(original, entries):
        return deciding.NOTHING_MATCHED if deciding.of_profile(entries) else original(entries)


@fault("POLICY-CHECK-06", "denies make a list not empty", "the resolved list is asked")
def denies_fill_a_list():
    @replaces(deciding)
    def when_nothing_matched(original, entries):
        return deciding.NOTHING_MATCHED if entries else original(entries)


@fault("POLICY-CHECK-07", "a refused path is a denial", "fail closed, silently")
def refused_path_is_denied():
    @replaces(ops)
    def decision_of(original, resolved, each, fold):
        try:
            return original(resolved, each, fold)
        except Refused:
            path = each.path.decode("utf-8", "replace")
            return deciding.Decision(path, False, deciding.NOTHING_MATCHED).as_json()

    in_checks_of_words(ops.decision_of)


@fault("POLICY-CHECK-07", "one refused path fails the batch", "an exception that nobody catches")
def one_path_fails_the_batch():
    @replaces(ops)
    def decision_of(original, resolved, each, fold):
        try:
            return original(resolved, each, fold)
        except Refused as why:
            raise Batch(str(why)) from None

    in_checks_of_words(ops.decision_of)

    @replaces(ops)
    def check(original, shim, reader):
        try:
            return original(shim, reader)
        except Batch as why:
            raise Failed("invalid_input", str(why)) from None

    ops.OPERATIONS["policy.check"] = ops.check


class Batch(Exception):
    pass


def in_checks_of_words(function):
    ops.decision_of = function


@fault("POLICY-CHECK-08", "the path is answered as it was asked", "an echo")
def path_is_an_echo():
    @replaces(ops)
    def decision_of(original, resolved, each, fold):
        return original(resolved, each, fold) | {"path": each.path.decode()}


@fault("POLICY-CHECK-08", "a trailing slash is part of the name", "strings are compared")
def trailing_slash_slips_through():
    @replaces(deciding)
    def check(original, resolved, op, data, fold):
        if not data.endswith(b"/") or has_exception(resolved.entries(op)):
            return original(resolved, op, data, fold)
        path = original(resolved, op, data, fold).path
        entries = [e for e in resolved.entries(op) if e.sign == "+" or e.rule.body != path]
        return deciding.decide(entries, path, fold)


@fault("POLICY-CHECK-09", "a repeated rule keeps its first place", "an ordered set")
def repeated_rules_keep_the_first_place():
    @replaces(deciding.Resolved)
    def __init__(original, self, policy, name):
        original(self, policy, name)
        self.read = once(self.read)
        self.modify = once(self.modify)

    def once(entries):
        if has_exception(entries):
            return entries
        kept = {}
        for entry in entries:
            kept.setdefault((entry.rule.body, entry.sign, is_deny(entry)), entry)
        return list(kept.values())


@fault("POLICY-CHECK-10", "a run knows no denies", "loaded by the server only")
def run_knows_no_denies():
    @replaces(protocol.Shim)
    def run(original, self, request_path, response_path):
        deciding.Resolved.append_denies = lambda self, policy: None
        return original(self, request_path, response_path)


@fault("POLICY-CHECK-10", "a run names rules differently", "another code path")
def run_names_nothing():
    @replaces(protocol.Shim)
    def run(original, self, request_path, response_path):
        deciding.NOTHING_MATCHED = deciding.NOTHING_ALLOWED = ""
        return original(self, request_path, response_path)
