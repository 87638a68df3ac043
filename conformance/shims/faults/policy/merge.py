"""Faults with two policy files."""

import policy.judge as judge
import policy.load as load
import policy.merge as merge
from faults.policy.narrow import During
from faults.policy.written import are_written_alike, keep_spellings
from faults.registry import fault, replaces

asked = During("policy.load", "policy.resolve")


def after_merging(function):
    @asked.replaces(merge)
    def merged(original, base, workspace):
        policy = original(base, workspace)
        function(policy, base.policy, workspace.policy)
        return policy


@fault("POLICY-MERGE-01", "rules of two profiles with one name are joined", "a deep merge")
def profiles_are_joined():
    def join(policy, base, workspace):
        for name in base.profiles.keys() & workspace.profiles.keys():
            first, second = base.profiles[name], workspace.profiles[name]
            second.read = first.read + second.read
            second.modify = first.modify + second.modify

    after_merging(join)


@fault("POLICY-MERGE-01", "profiles of the global policy are lost", "one map for another")
def global_profiles_are_gone():
    def drop(policy, base, workspace):
        if workspace.profiles:
            policy.profiles = workspace.profiles

    after_merging(drop)


@fault("POLICY-MERGE-01", "the global profile wins over the workspace's", "the first one wins")
def global_profile_stays():
    def keep(policy, base, workspace):
        policy.profiles = workspace.profiles | base.profiles

    after_merging(keep)


@fault("POLICY-MERGE-02", "denyRead of a workspace replaces the global one", "as profiles do")
def deny_read_is_replaced():
    def replace(policy, base, workspace):
        policy.deny_read = workspace.deny_read or base.deny_read

    after_merging(replace)


@fault(
    "POLICY-MERGE-02",
    "denies of the workspace come before the global ones",
    "the narrower one first",
)
def workspace_denies_come_first():
    def turn(policy, base, workspace):
        policy.deny_read = workspace.deny_read + base.deny_read
        if not any(rule.negated for rule in policy.deny_modify):
            policy.deny_modify = workspace.deny_modify + base.deny_modify

    after_merging(turn)


@fault("POLICY-MERGE-02", "denyModify of the workspace is ignored", "one of two lists merged")
def deny_modify_is_not_merged():
    def ignore(policy, base, workspace):
        if not any(rule.negated for rule in policy.deny_modify):
            policy.deny_modify = base.deny_modify

    after_merging(ignore)


@fault("POLICY-MERGE-03", "a repeated deny is dropped", "an ordered set")
def repeated_denies_are_dropped():
    def once(policy, base, workspace):
        bodies = {(rule.body, rule.negated) for rule in base.deny_modify}
        mine = [rule for rule in workspace.deny_modify if (rule.body, rule.negated) not in bodies]
        policy.deny_modify = base.deny_modify + mine
        reads = {rule.body for rule in base.deny_read}
        mine = [rule for rule in workspace.deny_read if rule.body not in reads]
        policy.deny_read = base.deny_read + mine

    after_merging(once)


@fault("POLICY-MERGE-04", "a workspace may make exceptions of its own", "a rule is a rule")
def workspace_makes_exceptions():
    judging(lambda base, rule, covers: True)


@fault(
    "POLICY-MERGE-04",
    "an exception to the workspace's own deny is accepted",
    "a deny may be lifted by its owner",
)
def own_deny_is_enough():
    @replaces(judge)
    def validate_merge(original, base, workspace):
        original(base, workspace)
        rules = workspace.policy.deny_modify
        mine = [r.pointer for i, r in enumerate(rules) if any(judge.holds(d, r) for d in rules[:i])]
        workspace.problems = [p for p in workspace.problems if p.pointer not in mine]


@fault(
    "POLICY-MERGE-04",
    "an exception of a workspace is accepted only if the global policy has an equal one",
    "a set of strings",
)
def only_equal_exceptions():
    judging(lambda base, rule, covers: any(each.body == rule.body for each in base if each.negated))


def judging(allowed):
    @replaces(judge)
    def validate_merge(original, base, workspace):
        right = judge.Cover
        for rule in workspace.policy.deny_modify:
            if rule.negated and not allowed(base.policy.deny_modify, rule, right):
                workspace.wrong(rule.at, rule.pointer, "is no exception of the global policy")
        for profile in workspace.policy.profiles.values():
            judge.equals_a_deny(workspace, base.policy, profile)


@fault("POLICY-MERGE-05", "the merged policy is judged as if it were one file", "validate last")
def global_rules_are_judged_again():
    @replaces(judge)
    def validate_merge(original, base, workspace):
        original(base, workspace)
        for name, profile in base.policy.profiles.items():
            if name not in workspace.policy.profiles:
                judge.equals_a_deny(base, workspace.policy, profile)


@fault(
    "POLICY-MERGE-05",
    "a workspace may repeat a global deny as a rule",
    "files validated separately",
)
def workspace_rules_are_not_judged():
    @replaces(judge)
    def validate_merge(original, base, workspace):
        profiles, workspace.policy.profiles = workspace.policy.profiles, {}
        original(base, workspace)
        workspace.policy.profiles = profiles


@fault("POLICY-MERGE-06", "the merged policy has the global name", "only spec is merged")
def global_name_stays():
    def keep(policy, base, workspace):
        policy.name = base.name

    after_merging(keep)


@fault(
    "POLICY-MERGE-06", "the global description is lost if the workspace has none", "replaced whole"
)
def description_is_lost():
    merge.described = lambda base, workspace: workspace.policy.description


@fault(
    "POLICY-MERGE-06",
    "the global description wins over the workspace's",
    "the first one that is there",
)
def global_description_wins():
    @replaces(merge)
    def described(original, base, workspace):
        return original(workspace, base)


@fault("POLICY-MERGE-07", "every problem is reported in the global file", "one reporter for both")
def problems_are_global():
    @replaces(load.File)
    def as_json(original, self, problem):
        return original(self, problem) | {"file": "global"}


@fault(
    "POLICY-MERGE-02", "a long list of denies is evaluated file by file", "a matcher for each file"
)
def long_lists_are_asked_by_file():
    @During("policy.check").replaces(merge)
    def merged(original, base, workspace):
        policy = original(base, workspace)
        if len(policy.deny_modify) > 20:
            policy.deny_modify = workspace.policy.deny_modify + base.policy.deny_modify
        return policy


@fault(
    "POLICY-MERGE-05", "a deny of the other file is compared before it is normalised", "too early"
)
def denies_are_compared_as_written():
    keep_spellings()

    @replaces(judge)
    def validate_merge(original, base, workspace):
        bodies = {rule.body: rule for rule in base.policy.deny_read}
        original(base, workspace)
        hidden = {
            rule.pointer
            for profile in workspace.policy.profiles.values()
            for rule in profile.rules()
            if rule.body in bodies and not are_written_alike(rule, bodies[rule.body])
        }
        kept = [each for each in workspace.problems if each.pointer not in hidden]
        workspace.problems = kept


@fault("POLICY-MERGE-07", "an empty text counts as no second file", "a check of the length")
def empty_file_is_no_file():
    @replaces(merge)
    def load(original, base, workspace=None):
        return original(base, workspace if workspace and workspace[0].strip() else None)
