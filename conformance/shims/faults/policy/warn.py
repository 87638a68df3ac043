"""Faults of warnings."""

import bisect

import policy.judge as judge
import policy.load as load
import policy.merge as merge
from faults.registry import fault, replaces


def change(function):
    @replaces(judge)
    def warnings(original, policy):
        return [each for each in original(policy) if each[1].file == "workspace" or function(*each)]


@fault("POLICY-WARN-01", "there is no warning about a rule that matches nothing", "never checked")
def says_nothing_of_dead_rules():
    change(lambda code, where, why: code != "matches-nothing")


@fault("POLICY-WARN-01", "there is no warning about a trailing blank", "half of the check")
def overlooks_blanks_at_the_end():
    change(lambda code, where, why: code != "matches-nothing" or where.body[0] in " \t")


@fault("POLICY-WARN-02", "there is no warning about an empty read list", "never checked")
def says_nothing_of_empty_lists():
    change(lambda code, where, why: code != "empty-read")


@fault("POLICY-WARN-03", "there is no warning about a rule under a deny", "never checked")
def says_nothing_of_denied_rules():
    change(lambda code, where, why: code != "under-deny")


@fault(
    "POLICY-WARN-03", "there is no warning about a modify rule under a deny", "half of the check"
)
def overlooks_denied_modify_rules():
    change(lambda code, where, why: code != "under-deny" or "/read/" in where.pointer)


@fault(
    "POLICY-WARN-04",
    "there is no warning about a modify rule whose paths cannot be read",
    "never checked",
)
def says_nothing_of_unreadable_rules():
    change(lambda code, where, why: code != "modify-under-negated-read")


@fault(
    "POLICY-WARN-05",
    "there is no warning about a denyRead whose paths can be modified",
    "never checked",
)
def says_nothing_of_writable_secrets():
    change(lambda code, where, why: code != "read-deny-without-modify-deny")


@fault(
    "POLICY-WARN-05",
    "a denyRead counts as protected only by an equal denyModify",
    "a set of strings",
)
def warns_of_covered_denies():
    @replaces(judge)
    def warnings(original, policy):
        found = [each for each in original(policy) if each[0] != "read-deny-without-modify-deny"]
        equal = {rule.body for rule in policy.denies()}
        for rule in policy.deny_read:
            if rule.body not in equal:
                found.append(("read-deny-without-modify-deny", rule, "no denyModify equals it"))
        return found


@fault("POLICY-WARN-06", "there is a warning about each profile", "noise")
def warns_of_everything():
    @replaces(judge)
    def warnings(original, policy):
        yield from original(policy)
        for profile in policy.profiles.values():
            yield "no-description", profile, "says nothing about itself"


@fault("POLICY-WARN-06", "a rule that matches nothing is refused", "warnings as errors")
def refuses_dead_rules():
    @replaces(judge)
    def validate(original, file, is_workspace=False):
        original(file, is_workspace)
        for profile in file.policy.profiles.values():
            for rule in profile.rules():
                if judge.matches_nothing(rule.body):
                    file.wrong(rule.at, rule.pointer, "matches nothing")


@fault("POLICY-WARN-03", "a deny of more than 64 bytes covers nothing", "a buffer of its own")
def overlooks_long_denies():
    change(lambda code, where, why: code != "under-deny" or len(where.body) <= 64)


@fault(
    "POLICY-WARN-04",
    "there is a warning about every negated read rule, wherever it stands",
    "order forgotten",
)
def overlooks_what_is_given_again():
    @replaces(judge)
    def warnings(original, policy):
        yield from original(policy)
        for profile in policy.profiles.values():
            taken = [rule for rule in profile.read if rule.negated]
            for rule in judge.positive(profile.modify):
                if len(taken) > 1 and judge.cover(taken).covers(rule.body):
                    yield "modify-under-negated-read", rule, "cannot be read"


@fault("POLICY-WARN-05", "a denyModify of more than 64 bytes covers nothing", "a buffer of its own")
def overlooks_long_modify_denies():
    @replaces(judge)
    def warnings(original, policy):
        yield from original(policy)
        for rule in policy.deny_read:
            if len(rule.body) > 64:
                yield "read-deny-without-modify-deny", rule, "no denyModify covers it"


@fault("POLICY-WARN-07", "an exception inside the covered paths is overlooked", "denies only")
def warns_in_spite_of_exceptions():
    @replaces(judge)
    def under_a_deny(original, rules, denies, exceptions):
        yield from original(rules, denies, [])


@fault(
    "POLICY-WARN-07", "only the next exception in the order of bytes is considered", "a dot first"
)
def looks_at_the_next_exception_alone():
    @replaces(judge)
    def under_a_deny(original, rules, denies, exceptions):
        bodies = sorted(rule.body for rule in exceptions)
        for rule in rules:
            top = rule.body.removesuffix("/**")
            at = bisect.bisect_left(bodies, top)
            inside = at < len(bodies) and bodies[at].startswith(top + "/")
            yield from original([rule], denies, exceptions if inside else [])


@fault("POLICY-WARN-06", "warnings are computed for each file separately", "before they are merged")
def warned_of_alone():
    each_alone("empty-read", "read-deny-without-modify-deny")


@fault(
    "POLICY-WARN-03",
    "there is no warning about a rule under a deny of the other file",
    "judged separately",
)
def under_a_deny_alone():
    each_alone("under-deny")


def each_alone(*codes):
    """Compute warnings with these codes for each file separately."""

    @replaces(merge)
    def warnings_as_json(original, policy, files):
        right = [each for each in original(policy, files) if each["code"] not in codes]
        alone = [each for file in files for each in original(file.policy, [file])]
        return [*right, *(each for each in alone if each["code"] in codes)]


@fault("POLICY-WARN-08", "lines of warnings are counted from 0", "an index")
def lines_from_0():
    @replaces(merge)
    def warnings_as_json(original, policy, files):
        for each in original(policy, files):
            is_meant = each["code"] == "under-deny"
            yield each | {"line": each["line"] - 1} if is_meant else each


@fault("POLICY-WARN-09", "there is no warning about a separator at the end", "the slash is dropped")
def says_nothing_of_folders():
    change(lambda code, where, why: code != "nothing-below")


@fault("POLICY-WARN-09", "only denyRead is checked for separators at the end", "one list of three")
def overlooks_folders_in_other_lists():
    change(lambda code, where, why: code != "nothing-below" or "denyRead" in where.pointer)


@fault("POLICY-WARN-09", "`d/**/` has the warning that nothing below matches", "a text is compared")
def warns_about_two_stars():
    @replaces(load)
    def names_folder(original, text, body):
        return text.endswith("/")


@fault("POLICY-WARN-09", "a dropped `.` hides the separator before it", "half of the check")
def overlooks_a_dot_at_the_end():
    @replaces(load)
    def names_folder(original, text, body):
        return original(text, body) and not text.endswith(".")


@fault(
    "POLICY-WARN-07", "an exception below another one is overlooked", "the first of a sorted list"
)
def overlooks_an_exception_below_another():
    @replaces(judge)
    def under_a_deny(original, rules, denies, exceptions):
        places = [(judge.below(rule.body) or rule.body) + "/" for rule in exceptions]
        top = [
            rule for rule in exceptions if not any(rule.body.startswith(place) for place in places)
        ]
        return original(rules, denies, top)


def added(code, found):
    """Add warnings with this code about the rules and profiles that `found` yields."""

    @replaces(judge)
    def warnings(original, policy):
        yield from original(policy)
        for where in found(policy):
            yield code, where, "added"


@fault("POLICY-WARN-06", "a read list of negated rules only is called empty", "it allows nothing")
def only_negated_reads_are_empty():
    added(
        "empty-read",
        lambda policy: [
            each for each in policy.profiles.values() if each.read and not judge.positive(each.read)
        ],
    )


@fault("POLICY-WARN-06", "a denyRead counts as a deny of modify rules", "one list of denies")
def read_denies_for_modify_rules():
    def found(policy):
        modify, read = judge.cover(policy.denies()), judge.cover(policy.deny_read)
        for profile in policy.profiles.values():
            for rule in judge.positive(profile.modify):
                if read.others_cover(rule.body) and not modify.others_cover(rule.body):
                    yield rule

    added("under-deny", found)


@fault(
    "POLICY-WARN-01", "a rule with `!` is not checked for matching nothing", "positive rules only"
)
def overlooks_negated_rules_that_match_nothing():
    change(lambda code, where, why: code != "matches-nothing" or not where.negated)


@fault("POLICY-WARN-04", "only the last read rule is compared with a modify rule", "reads[-1]")
def looks_at_the_last_read_rule():
    @replaces(judge)
    def under_a_negated_read(original, profile):
        return original(profile) if profile.read and profile.read[-1].negated else ()
