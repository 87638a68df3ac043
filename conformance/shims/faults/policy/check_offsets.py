"""Faults in decisions, at the limits of machine words and of nesting."""

import policy.decide as deciding
import policy.load as load
import policy.merge as merge
from faults.policy.narrow import During
from faults.registry import fault, replaces

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


def at_most(count):
    """Keep this many rules of each list of a file."""

    @replaces(load.File)
    def rules(original, self, node, pointer):
        return original(self, node, pointer)[:count]


@fault("POLICY-CHECK-02", "rules after the 32,767th of a list are ignored", "a signed short")
def a_list_has_at_most_32767_rules():
    at_most(32_767)


@fault("POLICY-CHECK-02", "rules after the 65,535th of a list are ignored", "uint16_t")
def a_list_has_at_most_65535_rules():
    at_most(65_535)


@fault("POLICY-CHECK-02", "of two files' denies 8,192 are kept", "a table of a fixed size")
def a_merge_has_at_most_8192_denies():
    @replaces(merge)
    def merged(original, base, workspace):
        policy = original(base, workspace)
        del policy.deny_modify[8192:]
        return policy


@fault("POLICY-CHECK-01", "a rule is cut after 1,024 characters", "snprintf() into a buffer")
def a_rule_is_cut():
    @replaces(load)
    def split_rule(original, text):
        return original(text[:1024])
