"""Faults in the reports of rules that are not enforced, and of violations."""

import backend.naming as naming
from backend.session import Session
from faults.registry import fault, replaces


def change_report(change):
    @replaces(naming)
    def unenforced(original, rule, why):
        made = original(rule, why)
        change(made)
        return made


@fault("BACKEND-RULE-03", "each report has the place of the first rule", "an index that stays 0")
def each_place_is_the_first():
    change_report(lambda made: made.update(pointer=made["pointer"].rpartition("/")[0] + "/0"))


@fault("BACKEND-RULE-03", "a report has the place of its list", "the pointer of the parent")
def each_place_is_the_list():
    change_report(lambda made: made.update(pointer=made["pointer"].rpartition("/")[0]))


@fault("BACKEND-RULE-10", "only the first hundred violations are reported", "a short answer")
def a_hundred_violations_are_reported():
    @replaces(Session)
    def violations(original, self, before):
        return original(self, before)[:100]
