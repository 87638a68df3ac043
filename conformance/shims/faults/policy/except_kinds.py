"""Faults of kinds that occur in any engine, by the table of the contract."""

import policy.decide as decide
import policy.load as load
from faults.policy.narrow import During
from faults.registry import fault, replaces


def cut(count, of):
    @replaces(decide.Resolved)
    def append_denies(original, self, policy):
        original(self, policy)
        kept, seen = [], 0
        for entry in self.modify:
            seen += of(entry)
            if not of(entry) or seen <= count:
                kept.append(entry)
        self.modify = kept


# C17: depth and number


@fault("POLICY-EXCEPT-03", "exceptions after the 32nd are forgotten", "a mask of 32 bits")
def exceptions_after_the_32nd():
    cut(32, lambda entry: entry.sign == "except")


# C21: patterns that are equal, or almost


@fault("POLICY-EXCEPT-04", "in an exception `?` of the profile is any text", "two matchers")
def wide_question_mark_in_an_exception():
    during = During("policy.check")

    @during.replaces(decide)
    def inside_exception(original, entries, text, fold):
        wide = [
            decide.Entry(load.Rule(e.rule.body.replace("?", "*"), e.rule.negated), e.origin, e.sign)
            for e in decide.of_profile(entries)
        ]
        return decide.last_match(wide, text, fold)


@fault("POLICY-EXCEPT-04", "in an exception a star of the profile crosses slashes", "fnmatch")
def wide_star_in_an_exception():
    during = During("policy.check")

    @during.replaces(decide)
    def inside_exception(original, entries, text, fold):
        def wide(body):
            return body if "**" in body else body.replace("*", "**")

        rules = [
            decide.Entry(load.Rule(wide(e.rule.body), e.rule.negated), e.origin, e.sign)
            for e in decide.of_profile(entries)
        ]
        return decide.last_match(rules, text, fold)
