"""Faults in decisions, at the limits of machine words and of nesting."""

import policy.decide as deciding
from faults.policy.narrow import During
from faults.registry import fault

checking = During("policy.check")

WORD = 8


@fault("POLICY-CHECK-02", "`**/` reaches no deeper than 31 folders", "levels in a mask of 32 bits")
def double_star_has_a_depth():
    @checking.replaces(deciding.Entry)
    def matches(right, self, text, fold):
        is_too_deep = text.text.count("/") > 31 and "**/" in self.rule.body[:-1]
        return not is_too_deep and right(self, text, fold)


@fault("POLICY-CHECK-11", "of a long name the first and the last word are compared", "hashing")
def middle_of_a_name_is_not_compared():
    @checking.replaces(deciding.Entry)
    def matches(right, self, text, fold):
        body, path = self.rule.body, text.text
        if not is_long_name(body) or len(body) != len(path):
            return right(self, text, fold)
        return body[:WORD] == path[:WORD] and body[-WORD:] == path[-WORD:]


def is_long_name(body):
    return len(body) > 2 * WORD and not any(c in "*?/" for c in body)
