"""Faults in decisions."""

import policy.decide as deciding
import policy.glob as glob
import policy.ops as ops
import protocol
from errors import Failed
from faults.policy.narrow import During
from faults.registry import fault, replaces
from policy.spelling import Refused

checking = During("policy.check")


def deciding_so(function):
    """Decide by this function, except for lists with an exception and for folded names, which other
    requirements are about."""

    @checking.replaces(deciding)
    def decide(original, entries, path, fold):
        if fold or has_exception(entries):
            return original(entries, path, fold)
        return function(original, entries, path)


def has_exception(entries):
    return any(entry.sign == "except" for entry in entries)


def matching(entries, path):
    return [entry for entry in entries if entry.matches(glob.Text(path), False)]


def choosing(choose):
    @deciding_so
    def decide(original, entries, path):
        found = matching(entries, path)
        if not found:
            return original(entries, path, False)
        entry = choose(found)
        return deciding.Decision(path, entry.sign == "+", deciding.named(entry), entry)


def allowing(free):
    @checking.replaces(deciding)
    def check(original, resolved, op, data, fold):
        decision = original(resolved, op, data, fold)
        if decision.deciding is None and not fold and not has_exception(resolved.modify):
            decision.allowed = free(resolved.entries(op))
        return decision


def is_deny(entry):
    return entry.origin != "profile"


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


@fault(
    "POLICY-CHECK-02", "deny rules are evaluated before the profile", "a deny list checked first"
)
def denies_come_first():
    choosing(lambda found: next((e for e in reversed(found) if not is_deny(e)), found[-1]))


@fault("POLICY-CHECK-02", "an exact rule of the profile beats a global deny", "specificity")
def exact_rule_beats_a_deny():
    def is_exact(entry):
        return entry.sign == "+" and "*" not in entry.rule.body

    choosing(lambda found: next((e for e in found if is_exact(e)), found[-1]))


@fault("POLICY-CHECK-03", "an empty list allows every path", "no restriction means free")
def empty_list_allows():
    allowing(lambda entries: not deciding.of_profile(entries))


@fault("POLICY-CHECK-03", "a path without a matching rule is allowed", "a denylist at heart")
def no_match_allows():
    allowing(lambda entries: True)


@fault("POLICY-CHECK-04", "a denyRead rule denies modify too", "common sense, not the contract")
def deny_read_denies_modify():
    @checking.replaces(deciding)
    def check(original, resolved, op, data, fold):
        decision = original(resolved, op, data, fold)
        if op == "modify" and not fold and not has_exception(resolved.modify):
            denied = matching([e for e in resolved.read if is_deny(e)], decision.path)
            decision.allowed = decision.allowed and not denied
        return decision


@fault("POLICY-CHECK-04", "modify is decided by the read rules", "one list for both")
def modify_asks_the_read_list():
    @checking.replaces(deciding)
    def check(original, resolved, op, data, fold):
        own = fold or has_exception(resolved.modify)
        return original(resolved, op if own else "read", data, fold)


@fault("POLICY-CHECK-05", "matched_rule of a deny contains its `!`", "the entry as it stands")
def matched_rule_with_sign():
    @deciding_so
    def decide(original, entries, path):
        decision = original(entries, path, False)
        if decision.deciding is not None and decision.deciding.sign == "-":
            decision.matched_rule = "!" + decision.matched_rule
        return decision


@fault(
    "POLICY-CHECK-05",
    "matched_rule is the first rule with the same decision",
    "found, then looked up",
)
def matched_rule_is_the_first_that_agrees():
    choosing(lambda found: next(e for e in found if e.sign == found[-1].sign))


@fault(
    "POLICY-CHECK-06",
    "matched_rule is always `<no matching rule>` if no rule matched",
    "one constant",
)
def one_word_for_no_match():
    no_match(lambda right, entries: deciding.NOTHING_MATCHED)


@fault("POLICY-CHECK-06", "matched_rule is `[]` only if the list is empty", "len(list) == 0")
def only_an_empty_list_is_brackets():
    def word(right, entries):
        return deciding.NOTHING_MATCHED if deciding.of_profile(entries) else right

    no_match(word)


@fault(
    "POLICY-CHECK-06",
    "a list that has only denies does not count as empty",
    "the resolved list is checked",
)
def denies_fill_a_list():
    no_match(lambda right, entries: deciding.NOTHING_MATCHED if entries else right)


@fault(
    "POLICY-CHECK-11", "rules with equal hashes count as one rule", "a table that does not compare"
)
def names_of_one_hash_are_one():
    def number(text):
        found = 0
        for letter in text:
            found = (31 * found + ord(letter)) % 2**32
        return found

    @deciding_so
    def decide(original, entries, path):
        def hits(entry):
            body = entry.rule.body
            return "*" not in body and "?" not in body and number(body) == number(path)

        met = [entry for entry in entries if hits(entry) or matching([entry], path)]
        if not met:
            return original(entries, path, False)
        return deciding.Decision(path, met[-1].sign == "+", deciding.named(met[-1]), met[-1])


@fault(
    "POLICY-CHECK-11",
    "rules are looked up by the end of a name, even with wildcards in it",
    "wildcards in it forgotten",
)
def rules_are_looked_up_by_their_end():
    def end(text):
        name = text.rpartition("/")[2]
        return name.rpartition(".")[2] if "." in name else ""

    @deciding_so
    def decide(original, entries, path):
        known = [e for e in entries if "*." not in e.rule.body or end(e.rule.body) == end(path)]
        return original(known, path, False)


@fault("POLICY-CHECK-06", "an exception counts as a positive rule", "all that is not denied")
def exceptions_fill_a_list():
    @checking.replaces(deciding)
    def when_nothing_matched(original, entries):
        return deciding.NOTHING_MATCHED if has_exception(entries) else original(entries)


def no_match(word):
    @checking.replaces(deciding)
    def when_nothing_matched(original, entries):
        right = original(entries)
        return right if has_exception(entries) else word(right, entries)


@fault("POLICY-CHECK-07", "a refused path is a denial", "fail closed, silently")
def refused_path_is_denied():
    @replaces(ops)
    def decision_of(original, resolved, each, fold):
        try:
            return original(resolved, each, fold)
        except Refused:
            path = each.path.decode("utf-8", "replace")
            return deciding.Decision(path, False, deciding.NOTHING_MATCHED).as_json()


@fault("POLICY-CHECK-07", "one refused path fails the batch", "an uncaught exception")
def one_path_fails_the_batch():
    @replaces(ops)
    def decision_of(original, resolved, each, fold):
        try:
            return original(resolved, each, fold)
        except Refused as why:
            raise Batch(str(why)) from None

    @replaces(ops)
    def check(original, shim, reader):
        try:
            return original(shim, reader)
        except Batch as why:
            raise Failed("invalid_input", str(why)) from None


class Batch(Exception):
    pass


@fault("POLICY-CHECK-08", "the answer has the path as it was given, not normalised", "an echo")
def path_is_an_echo():
    @replaces(ops)
    def decision_of(original, resolved, each, fold):
        return original(resolved, each, fold) | {"path": each.path.decode()}


@fault("POLICY-CHECK-08", "a trailing slash counts as a part of the name", "strings are compared")
def trailing_slash_slips_through():
    @checking.replaces(deciding)
    def check(original, resolved, op, data, fold):
        decision = original(resolved, op, data, fold)
        if not data.endswith(b"/") or fold or has_exception(resolved.entries(op)):
            return decision
        kept = [
            entry
            for entry in resolved.entries(op)
            if entry.sign == "+" or entry.rule.body != decision.path
        ]
        return deciding.decide(kept, decision.path, fold)


@fault("POLICY-CHECK-09", "a repeated rule counts only at its first place", "an ordered set")
def repeated_rules_keep_the_first_place():
    @deciding_so
    def decide(original, entries, path):
        kept: dict[object, deciding.Entry] = {}
        for entry in entries:
            kept.setdefault((entry.rule.body, entry.sign, is_deny(entry)), entry)
        return original(list(kept.values()), path, False)


@fault("POLICY-CHECK-10", "under run the global denies are ignored", "loaded by the server only")
def run_knows_no_denies():
    @replaces(protocol.Shim)
    def run(original, self, request_path, response_path):
        deciding.Resolved.append_denies = lambda self, policy: None
        return original(self, request_path, response_path)


@fault("POLICY-CHECK-10", "under run matched_rule is empty if no rule matched", "another code path")
def run_names_nothing():
    @replaces(protocol.Shim)
    def run(original, self, request_path, response_path):
        deciding.NOTHING_MATCHED = deciding.NOTHING_ALLOWED = ""
        return original(self, request_path, response_path)


MANY = 40


def looking_up(found):
    """Decide long lists only by the rules that a look-up finds, in the order of the look-up."""

    @deciding_so
    def decide(original, entries, path):
        asked = found(entries, path) if len(entries) >= MANY else entries
        return original(asked, path, False)


def is_wild(text):
    return "*" in text or "?" in text


@fault(
    "POLICY-CHECK-11",
    "in a long list rules without wildcards win",
    "a table in addition to the list",
)
def exact_rules_of_many_win():
    looking_up(lambda entries, _: sorted(entries, key=lambda e: not is_wild(e.rule.body)))


@fault(
    "POLICY-CHECK-11",
    "in a long list rules with a wildcard in their first name are ignored",
    "tries",
)
def many_rules_by_the_first_name():
    def found(entries, path):
        firsts = [entry.rule.body.split("/")[0] for entry in entries]
        filed = [e for e, first in zip(entries, firsts, strict=True) if first == path.split("/")[0]]
        return filed or [e for e, first in zip(entries, firsts, strict=True) if is_wild(first)]

    looking_up(found)


@fault(
    "POLICY-CHECK-11",
    "in a long list `*.x` is compared with the text after a name's first dot",
    "extensions",
)
def many_suffixes_by_the_first_dot():
    def may_match(body, path):
        name = body.split("/")[-1]
        if not name.startswith("*.") or is_wild(name[1:]):
            return True
        return path.split("/")[-1].partition(".")[2] == name[2:]

    looking_up(lambda entries, path: [e for e in entries if may_match(e.rule.body, path)])


@fault(
    "POLICY-CHECK-10",
    "matches are cached by rule and path joined without a separator",
    "a key of two",
)
def remembers_by_a_joined_key():
    known: dict[str, bool] = {}

    @deciding_so
    def decide(original, entries, path):
        for entry in reversed(entries):
            if known.setdefault(entry.rule.body + path, bool(matching([entry], path))):
                return deciding.Decision(path, entry.sign == "+", deciding.named(entry), entry)
        return original([], path, False)
