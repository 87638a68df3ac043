"""Faults of kinds that occur in any engine, by the table of the contract."""

import policy.decide as decide
import policy.judge as judge
import policy.load as load
from faults.policy.counted import keep_first
from faults.policy.narrow import During
from faults.registry import fault, replaces


def change_bodies_inside_exceptions(change):
    """Change the rules of the profile while they decide inside an exception."""
    during = During("policy.check")

    @during.replaces(decide)
    def inside_exception(original, entries, text, fold):
        changed = [
            decide.Entry(load.Rule(change(e.rule.body), e.rule.negated), e.origin, e.sign)
            for e in decide.of_profile(entries)
        ]
        return decide.last_match(changed, text, fold)


# Kind C17 of contracts/kinds-policy.yaml: depth and number


@fault("POLICY-EXCEPT-03", "exceptions after the 32nd are forgotten", "a mask of 32 bits")
def exceptions_after_the_32nd():
    keep_first(32, lambda entry: entry.sign == "except")


# Kind C21 of contracts/kinds-policy.yaml: patterns that are equal, or almost


@fault("POLICY-EXCEPT-04", "in an exception `?` of the profile is any text", "two matchers")
def wide_question_mark_in_an_exception():
    change_bodies_inside_exceptions(lambda body: body.replace("?", "*"))


@fault("POLICY-EXCEPT-04", "in an exception a star of the profile crosses slashes", "fnmatch")
def wide_star_in_an_exception():
    change_bodies_inside_exceptions(lambda body: body if "**" in body else body.replace("*", "**"))


@fault("POLICY-EXCEPT-02", "the root is no exact path", "an exception has a name")
def root_is_no_exception():
    @replaces(judge)
    def holds(original, deny, rule):
        return rule.body != "." and original(deny, rule)


@fault("POLICY-EXCEPT-02", "a list of one deny is not compiled for many exceptions", "n > 1")
def one_deny_is_not_compiled():
    @replaces(judge)
    def exception(original, file, rule, earlier, is_workspace):
        if len(judge.positive(earlier)) == 1 and len(earlier) > 400:
            earlier = []
        original(file, rule, earlier, is_workspace)
