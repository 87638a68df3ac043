"""Faults in audit events."""

import time

import policy.decide as deciding
import policy.glob as glob
import policy.merge as merge
import policy.ops as ops
from faults.policy.narrow import During
from faults.registry import fault, replaces


def noting(change):
    @replaces(ops)
    def event_of(original, resolved, each, fold):
        return original(resolved, each, fold) | change(resolved, each)


@fault(
    "POLICY-AUDIT-01",
    "the record has the path as it was given, not normalised",
    "noted before it is checked",
)
def path_as_it_was_asked():
    noting(lambda resolved, each: {"path": "./" + each.path.decode()})


@fault(
    "POLICY-AUDIT-01", "the record has the word write instead of modify", "words of another system"
)
def modify_is_write():
    noting(lambda resolved, each: {"op": "write"} if each.op == "modify" else {})


@fault("POLICY-AUDIT-01", "the record has a negated rule with its `!`", "`!` and all")
def rule_with_its_sign():
    @replaces(ops)
    def event_of(original, *given):
        event = original(*given)
        sign = "" if event["allowed"] or event["matched_rule"][0] in "<[" else "!"
        return event | {"matched_rule": sign + event["matched_rule"]}


@fault("POLICY-AUDIT-02", "every profile is recorded as defined", "decided after the substitution")
def every_profile_is_defined():
    noting(lambda resolved, each: {"profile_origin": "defined"})


@fault("POLICY-AUDIT-02", "`unrestricted` is always recorded as synthesized", "judged by its name")
def unrestricted_is_synthesized():
    def change(resolved, each):
        return {"profile_origin": "synthesized"} if resolved.name == "unrestricted" else {}

    noting(change)


@fault("POLICY-AUDIT-03", "the time has no time zone", "local time")
def time_without_zone():
    @replaces(ops)
    def now(original):
        return original().removesuffix("Z")


@fault("POLICY-AUDIT-03", "the time is that of the program's start", "a timestamp kept")
def time_of_the_start():
    kept = ops.now()
    ops.now = lambda: kept


@fault("POLICY-AUDIT-03", "the local time is recorded as UTC", "localtime for gmtime")
def local_time_as_utc():
    @replaces(ops.time)
    def gmtime(original, seconds):
        return time.localtime(seconds)


@fault(
    "POLICY-AUDIT-01",
    "the record is decided without the option fold",
    "an option that is not passed on",
)
def notes_without_folding():
    @replaces(ops)
    def event_of(original, resolved, each, fold):
        return original(resolved, each, False)


@fault(
    "POLICY-AUDIT-01",
    "the record is decided by the global policy only",
    "one of five callers forgot",
)
def notes_without_the_workspace():
    @During("policy.audit").replaces(merge)
    def load(original, base, workspace=None):
        return original(base)


@fault(
    "POLICY-AUDIT-01",
    "for a long list the record names the first matching rule",
    "looked up once more",
)
def long_lists_are_noted_by_their_first_match():
    @replaces(ops)
    def event_of(original, resolved, each, fold):
        event = original(resolved, each, fold)
        entries = resolved.entries(each.op)
        if len(entries) < 40 or event["allowed"]:
            return event
        text = glob.Text(event["path"], fold)
        found = (entry for entry in entries if entry.sign == "-" and entry.matches(text, fold))
        first = next(found, None)
        return event if first is None else event | {"matched_rule": deciding.named(first)}


@fault(
    "POLICY-AUDIT-02",
    "the profile's origin is looked up in the global file only",
    "merged too late",
)
def origin_of_the_global_file():
    @replaces(merge)
    def merged(original, base, workspace):
        policy = original(base, workspace)
        policy.above = base.policy
        return policy

    @replaces(ops)
    def event_of(original, resolved, each, fold):
        event = original(resolved, each, fold)
        return event | {"profile_origin": resolved.origin_above or event["profile_origin"]}

    @replaces(deciding.Resolved, "__init__")
    def init(original, self, policy, name):
        original(self, policy, name)
        above = getattr(policy, "above", policy)
        is_built_in = self.name == deciding.UNRESTRICTED and self.name not in above.profiles
        self.origin_above = "synthesized" if is_built_in else None
