"""Faults in validating a well-formed policy."""

import policy.glob as glob
import policy.judge as judge
import policy.load as load
from faults.policy.narrow import During
from faults.policy.written import are_written_alike, keep_spellings
from faults.registry import fault, replaces

loading = During("policy.load")
auditing = During("policy.audit")
checking = During("policy.check", "policy.check_resolved")


@fault("POLICY-VALID-01", "modify rules need no read rules", "ADR-005 unread")
def modify_without_read():
    @loading.replaces(judge)
    def uncovered(original, file, profile):
        return None


@fault("POLICY-VALID-01", "one covered modify rule is enough for all", "any for all")
def one_covered_rule_is_enough():
    @loading.replaces(judge)
    def uncovered(original, file, profile):
        count = len(file.problems)
        original(file, profile)
        if len(file.problems) - count < len(judge.positive(profile.modify)):
            del file.problems[count:]


@fault("POLICY-VALID-02", "a rule covers every rule that begins like it", "starts_with")
def prefix_without_boundary():
    looking = []

    @loading.replaces(judge)
    def uncovered(original, file, profile):
        looking.append(file)
        original(file, profile)
        looking.clear()

    @loading.replaces(judge)
    def ends_a_segment(original, body, size):
        return size <= len(body) if looking else original(body, size)


@fault("POLICY-VALID-02", "a rule is covered only by `**` and by an equal rule", "a set of strings")
def only_equal_rules_cover():
    @loading.replaces(judge)
    def uncovered(original, file, profile):
        same = {rule.body for rule in judge.positive(profile.read)}
        for rule in judge.positive(profile.modify):
            if rule.body not in same and "**" not in same:
                file.wrong(rule.at, rule.pointer, "is not covered")


@fault(
    "POLICY-VALID-02",
    "a rule covers every rule whose text it matches",
    "the matcher applied to a rule",
)
def covers_by_matching():
    @loading.replaces(judge)
    def uncovered(original, file, profile):
        readable = judge.positive(profile.read)
        for rule in judge.positive(profile.modify):
            if not any(glob.matches(read.body, rule.body) for read in readable):
                file.wrong(rule.at, rule.pointer, "is not covered")


@fault("POLICY-VALID-02", "`P/**` does not cover P", "strictly below")
def place_is_not_covered():
    @loading.replaces(judge)
    def uncovered(original, file, profile):
        original(file, profile)
        below = {judge.below(rule.body) for rule in judge.positive(profile.read)}
        same = {rule.body for rule in judge.positive(profile.read)}
        for rule in judge.positive(profile.modify):
            if rule.body in below and rule.body not in same and "**" not in same:
                file.wrong(rule.at, rule.pointer, "is not covered")


@fault("POLICY-VALID-03", "a negated read rule covers modify rules", "signs forgotten")
def negated_rules_cover():
    @loading.replaces(judge)
    def uncovered(original, file, profile):
        readable = judge.cover(profile.read)
        for rule in judge.positive(profile.modify):
            if not readable.covers(rule.body):
                file.wrong(rule.at, rule.pointer, "is not covered")


@fault("POLICY-VALID-03", "a negated modify rule needs a read rule", "signs forgotten")
def negated_rules_need_cover():
    @loading.replaces(judge)
    def uncovered(original, file, profile):
        readable = judge.cover(judge.positive(profile.read))
        for rule in profile.modify:
            if not readable.covers(rule.body):
                file.wrong(rule.at, rule.pointer, "is not covered")


@fault("POLICY-VALID-04", "a profile may have no name", "any key will do")
def empty_names_pass():
    @loading.replaces(load.File)
    def wrong(original, self, at, pointer, message):
        if message != "the name of a profile is empty":
            original(self, at, pointer, message)


@fault("POLICY-VALID-05", "a profile may repeat a denied rule", "the deny wins anyway")
def equal_rules_pass():
    compare(lambda rule, reads, modifies, op: False)


@fault("POLICY-VALID-05", "modify rules are not compared with denyRead", "each list with its own")
def modify_against_its_own_only():
    compare(lambda rule, reads, modifies, op: rule.body in (reads if op == "read" else modifies))


@fault("POLICY-VALID-05", "a negated rule may equal a deny", "it denies, too")
def negated_rules_may_equal():
    compare(
        lambda rule, reads, modifies, op: (
            not rule.negated and rule.body in (reads if op == "read" else reads | modifies)
        )
    )


@fault("POLICY-VALID-05", "exceptions count as denies", "all of denyModify")
def exceptions_count_as_denies():
    @loading.replaces(judge)
    def equals_a_deny(original, file, policy, profile):
        original(file, policy, profile)
        holes = {rule.body for rule in policy.deny_modify if rule.negated}
        for rule in profile.modify:
            if rule.body in holes:
                file.wrong(rule.at, rule.pointer, "equals an exception")


@fault("POLICY-VALID-05", "read rules are compared with denyModify too", "all denies in one set")
def read_against_every_deny():
    compare(lambda rule, reads, modifies, op: rule.body in reads | modifies)


def compare(equal):
    """Compare only within one file, because rules that a workspace repeats belong to merging."""

    @loading.replaces(judge)
    def equals_a_deny(original, file, policy, profile):
        if file.policy is not policy or file.name == "workspace":
            original(file, policy, profile)
            return
        reads = {rule.body for rule in policy.deny_read}
        modifies = {rule.body for rule in policy.denies()}
        for op, rules in (("read", profile.read), ("modify", profile.modify)):
            for rule in rules:
                if equal(rule, reads, modifies, op):
                    file.wrong(rule.at, rule.pointer, "equals a deny")


@fault("POLICY-VALID-06", "`!` in denyRead is ignored", "one list reader for all")
def bang_in_deny_read_passes():
    @loading.replaces(load.File)
    def spec(original, self, node, pointer):
        original(self, node, pointer)
        for rule in self.policy.deny_read:
            rule.negated = False


@fault("POLICY-VALID-06", "`!` in denyRead drops the rule", "an exception to nothing")
def bang_in_deny_read_drops():
    @loading.replaces(load.File)
    def spec(original, self, node, pointer):
        original(self, node, pointer)
        self.policy.deny_read = judge.positive(self.policy.deny_read)


@fault("POLICY-VALID-02", "a read rule of more than 64 bytes covers nothing", "a buffer of its own")
def long_rules_cover_nothing():
    @loading.replaces(judge)
    def uncovered(original, file, profile):
        original(file, profile)
        if any(len(rule.body) > 64 for rule in judge.positive(profile.read)):
            for rule in judge.positive(profile.modify):
                file.wrong(rule.at, rule.pointer, "is not covered")


@fault("POLICY-VALID-05", "denies are compared before they are normalised", "too early")
def compared_as_written():
    keep_spellings()

    @loading.replaces(judge)
    def equals_a_deny(original, file, policy, profile):
        denies = {rule.body: rule for rule in [*policy.deny_read, *policy.deny_modify]}
        count = len(file.problems)
        original(file, policy, profile)
        if policy is not file.policy:
            return
        rules = {rule.pointer: rule for rule in profile.rules()}
        file.problems[count:] = [
            each
            for each in file.problems[count:]
            if are_written_alike(rules[each.pointer], denies[rules[each.pointer].body])
        ]


@fault("POLICY-VALID-06", "a `!` after a blank is not noticed", "text[0]")
def blank_hides_the_bang():
    hidden = []

    @replaces(load)
    def split_rule(original, text):
        negated, body = original(text)
        if negated and text[0] != "!":
            hidden.append(body)
        return negated, body

    @loading.replaces(judge)
    def validate(original, file, is_workspace=False):
        original(file, is_workspace)
        names = {rule.pointer for rule in file.policy.deny_read if rule.body in hidden}
        file.problems = [each for each in file.problems if each.pointer not in names]


@fault("POLICY-VALID-07", "an audit does not validate the policy", "validate only in load")
def audits_what_has_no_cover():
    @auditing.replaces(judge)
    def uncovered(original, file, profile):
        return None


@fault("POLICY-VALID-08", "a check does not validate the policy", "validate only in load")
def checks_with_what_is_no_exception():
    @checking.replaces(judge)
    def exception(original, file, rule, earlier, is_workspace):
        return None


@fault("POLICY-VALID-08", "a workspace may have rules with `!` in denyRead", "checked once, above")
def workspaces_have_exceptions_to_reading():
    @replaces(judge)
    def validate(original, file, is_workspace=False):
        rules = file.policy.deny_read
        if is_workspace:
            file.policy.deny_read = [rule for rule in rules if not rule.negated]
        original(file, is_workspace)
        file.policy.deny_read = rules


@fault("POLICY-VALID-08", "unknown fields of a workspace's file are ignored", "a lax reader below")
def workspaces_have_unknown_fields():
    @replaces(load.File)
    def unknown(original, self, each, pointer):
        if self.name == "global":
            original(self, each, pointer)


@fault("POLICY-VALID-07", "rules of a workspace need no read rule that covers them", "one check")
def workspaces_need_no_cover():
    @replaces(judge)
    def uncovered(original, file, profile):
        if file.name == "global":
            original(file, profile)
