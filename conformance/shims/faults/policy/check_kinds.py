"""Faults of kinds that occur in any engine, by the table of the contract."""

import policy.decide as decide
import policy.glob as glob
import policy.merge as merge
import policy.ops as ops
from faults.policy.counted import keep_first
from faults.registry import fault, replaces

# Kind C17 of contracts/kinds-policy.yaml: depth and number


@fault("POLICY-CHECK-02", "global denies after the 256th are forgotten", "a number of one byte")
def denies_after_the_256th():
    keep_first(256, lambda entry: entry.origin == "denyModify")


@fault("POLICY-CHECK-02", "denies are dropped from 4,096 rules on", "a limit without a word")
def denies_after_four_thousand():
    keep_first(4000, lambda entry: entry.origin == "denyModify")


# Kind C21 of contracts/kinds-policy.yaml: patterns that are equal, or almost


@fault("POLICY-CHECK-05", "neighbouring rules of one sign are ordered by the alphabet", "a set")
def neighbours_are_sorted():
    @replaces(decide)
    def last_match(original, entries, text, fold):
        found = original(entries, text, fold)
        if found is None:
            return found
        same = [e for e in entries if e.sign == found.sign and e.matches(text, fold)]
        return max(same, key=lambda each: each.rule.body) if found.sign != "except" else found


@fault("POLICY-CHECK-01", "a rule is dropped if a wider one of its sign stands before it", "merged")
def narrower_rules_are_merged():
    @replaces(decide)
    def last_match(original, entries, text, fold):
        kept: list[decide.Entry] = []
        for entry in entries:
            path = glob.Text(entry.rule.body.replace("*", "x").replace("?", "x"), fold)
            # The optimisation ignores rules of the other sign that stand between the wider and the
            # narrower rule.
            if not any(e.sign == entry.sign == "+" and e.matches(path, fold) for e in kept):
                kept.append(entry)
        return original(kept, text, fold)


def cut_at(length):
    @replaces(glob.Text, "__init__")
    def cut(original, self, path, fold=False):
        original(self, path[:length], fold)


@fault("POLICY-CHECK-01", "a path is compared up to 4,096 characters", "PATH_MAX")
def paths_end_at_path_max():
    cut_at(4096)


@fault("POLICY-CHECK-01", "a path is compared up to 65,535 characters", "a length of two bytes")
def paths_end_at_two_bytes():
    cut_at(65535)


@fault("POLICY-CHECK-01", "a path is compared up to 1,024 characters", "PATH_MAX of macOS")
def paths_end_at_path_max_of_macos():
    cut_at(1024)


# Kind C1 of contracts/kinds-policy.yaml: state from one request to the next


@fault(
    "POLICY-CHECK-10", "a policy is remembered by its text, without its workspace", "a cache key"
)
def a_policy_is_remembered_without_its_workspace():
    known = {}

    @replaces(merge)
    def load(original, base, workspace=None):
        if base not in known:
            known[base] = original(base, workspace)
        return known[base]


@fault("POLICY-CHECK-05", "`./` in front of an exclamation mark is not reported", "the bare body")
def matched_rule_is_the_body():
    @replaces(decide, "decide")
    def with_the_body(original, entries, path, fold):
        found = original(entries, path, fold)
        if found.deciding is not None:
            found.matched_rule = found.deciding.rule.body
        return found


@fault(
    "POLICY-CHECK-11", "policies are cached by their first 4 KiB and their length", "a cheap digest"
)
def policies_are_kept_by_their_start():
    kept = {}

    @replaces(merge)
    def load(original, base, workspace=None):
        key = (base[0][:4096], base[0][-64:], len(base[0]), base[1], workspace)
        if key not in kept:
            kept[key] = original(base, workspace)
        return kept[key]


@fault(
    "POLICY-CHECK-11", "checks after the 4,096th get the answer before it", "a buffer that wraps"
)
def checks_after_the_4096th_are_not_made():
    @replaces(ops)
    def items(original, answer, given):
        found = original(answer, given[:4096])
        return found + found[-1:] * (len(given) - len(found))
