"""Mistakes on the way to the effective profile."""

import policy.decide as decide
from policy.load import Profile
from policy.spelling import Refused
from registry import fault, replaces


@fault("POLICY-PROFILE-01", "an unknown profile denies everything", "fail closed, silently")
def unknown_profile_denies():
    @replaces(decide.Resolved)
    def synthesize(original, self):
        try:
            return original(self)
        except Refused:
            return Profile(self.name, 0, "", None, [], [])


@fault("POLICY-PROFILE-01", "an unknown profile is unrestricted", "a default that fails open")
def unknown_profile_is_unrestricted():
    @replaces(decide.Resolved)
    def synthesize(original, self):
        self.name = decide.UNRESTRICTED
        return original(self)


@fault("POLICY-PROFILE-02", "an omitted profile is an error", "a required argument")
def profile_must_be_named():
    @replaces(decide.Resolved)
    def __init__(original, self, policy, name):
        if name is None:
            raise Refused("no profile is named")
        original(self, policy, name)


@fault("POLICY-PROFILE-02", "unrestricted must be defined to be used", "ADR-003 unread")
def unrestricted_must_be_defined():
    @replaces(decide.Resolved)
    def synthesize(original, self):
        raise Refused(f"no profile is called {self.name}")


@fault("POLICY-PROFILE-02", "unrestricted may only read", "a careful default")
def unrestricted_only_reads():
    @replaces(decide.Resolved)
    def synthesize(original, self):
        profile = original(self)
        profile.modify = []
        return profile


@fault("POLICY-PROFILE-03", "unrestricted is always the built-in one", "a reserved word")
def own_unrestricted_is_ignored():
    @replaces(decide.Resolved)
    def __init__(original, self, policy, name):
        kept = policy.profiles
        policy.profiles = {k: v for k, v in kept.items() if k != decide.UNRESTRICTED}
        original(self, policy, name)
        if decide.UNRESTRICTED in kept and self.name == decide.UNRESTRICTED:
            self.origin = "defined"
        policy.profiles = kept


@fault("POLICY-PROFILE-04", "denies are not appended to the built-in unrestricted", "added at load")
def unrestricted_escapes_denies():
    @replaces(decide.Resolved)
    def append_denies(original, self, policy):
        if self.origin == "defined":
            original(self, policy)


@fault("POLICY-PROFILE-04", "denyRead is appended in the order of the alphabet", "a sorted set")
def denies_are_sorted():
    @replaces(decide.Resolved)
    def append_denies(original, self, policy):
        own = len(self.read)
        original(self, policy)
        self.read[own:] = sorted(self.read[own:], key=lambda entry: entry.rule.body)


@fault("POLICY-PROFILE-05", "resolve answers `./` before each rule", "written as people write")
def rules_with_a_dot():
    answer(lambda entry: dotted(entry) if isinstance(entry, str) else entry)


@fault("POLICY-PROFILE-05", "an exception is answered as an allow", "flattened")
def exceptions_as_allows():
    answer(lambda entry: entry["except"] if isinstance(entry, dict) else entry)


@fault("POLICY-PROFILE-05", "denies are answered without `!`", "lists of patterns")
def denies_without_sign():
    answer(lambda entry: entry.removeprefix("!") if isinstance(entry, str) else entry)


def dotted(rule):
    return "!./" + rule[1:] if rule.startswith("!") else "./" + rule


def answer(change):
    @replaces(decide.Resolved)
    def as_json(original, self):
        told = original(self)
        return told | {op: [change(entry) for entry in told[op]] for op in ("read", "modify")}
