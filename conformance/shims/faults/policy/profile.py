"""Faults in finding the lists of a profile."""

import unicodedata

import policy.decide as decide
import policy.load as reading
import policy.merge as merge
import policy.ops as ops
from faults.policy.narrow import During
from faults.registry import fault, replaces
from policy.load import Profile
from policy.spelling import Refused

checking = During("policy.check")
resolving = During("policy.resolve")
following = During("policy.check_resolved")


@fault("POLICY-PROFILE-01", "an unknown profile denies every path", "fail closed, silently")
def unknown_profile_denies():
    @resolving.replaces(decide.Resolved)
    def synthesize(original, self):
        try:
            return original(self)
        except Refused:
            return Profile(self.name, 0, "", None, [], [])


@fault("POLICY-PROFILE-01", "an unknown profile is unrestricted", "a default that fails open")
def unknown_profile_is_unrestricted():
    @resolving.replaces(decide.Resolved)
    def synthesize(original, self):
        self.name = decide.UNRESTRICTED
        return original(self)


@fault(
    "POLICY-PROFILE-01", "built-in attributes of a table count as profiles", "getattr for a look-up"
)
def attributes_are_profiles():
    @checking.replaces(decide.Resolved)
    def synthesize(original, self):
        if hasattr({}, self.name):
            return Profile(self.name, 0, "", None, [], [])
        return original(self)


@fault(
    "POLICY-PROFILE-01", "names of profiles are compared in NFC", "normalised like what is shown"
)
def names_are_composed():
    @checking.replaces(decide.Resolved)
    def __init__(original, self, policy, name):
        same = (each for each in policy.profiles if composed(each) == composed(name or ""))
        original(self, policy, next(same, name))

    def composed(text):
        return unicodedata.normalize("NFC", text)


@fault("POLICY-PROFILE-02", "an omitted profile is an error", "a required argument")
def profile_must_be_named():
    @checking.replaces(decide.Resolved)
    def __init__(original, self, policy, name):
        if name is None:
            raise Refused("no profile is named")
        original(self, policy, name)


@fault("POLICY-PROFILE-02", "unrestricted must be defined to be used", "ADR-003 unread")
def unrestricted_must_be_defined():
    @checking.replaces(decide.Resolved)
    def synthesize(original, self):
        raise Refused(f"no profile is called {self.name}")


@fault("POLICY-PROFILE-02", "unrestricted allows only reading", "a careful default")
def unrestricted_only_reads():
    @checking.replaces(decide.Resolved)
    def synthesize(original, self):
        profile = original(self)
        profile.modify = []
        return profile


@fault("POLICY-PROFILE-03", "unrestricted is always the built-in one", "a reserved word")
def own_unrestricted_is_ignored():
    @resolving.replaces(decide.Resolved)
    def __init__(original, self, policy, name):
        kept = policy.profiles
        policy.profiles = {k: v for k, v in kept.items() if k != decide.UNRESTRICTED}
        original(self, policy, name)
        if decide.UNRESTRICTED in kept and self.name == decide.UNRESTRICTED:
            self.origin = "defined"
        policy.profiles = kept


@fault("POLICY-PROFILE-04", "denies are not appended to the built-in unrestricted", "added at load")
def unrestricted_escapes_denies():
    @resolving.replaces(decide.Resolved)
    def append_denies(original, self, policy):
        if self.origin == "defined":
            original(self, policy)


@fault("POLICY-PROFILE-04", "denyRead rules are appended in alphabetical order", "a sorted set")
def denies_are_sorted():
    @resolving.replaces(decide.Resolved)
    def append_denies(original, self, policy):
        own = len(self.read)
        original(self, policy)
        self.read[own:] = sorted(self.read[own:], key=lambda entry: entry.rule.body)


@fault("POLICY-PROFILE-05", "resolve returns denies that are not normalised", "the text is kept")
def denies_as_written():
    @resolving.replaces(reading)
    def split_rule(original, text):
        written.add(text.strip("! "))
        return original(text)

    @resolving.replaces(decide)
    def named(original, entry):
        body = original(entry)
        is_deny = entry.origin in ("denyRead", "denyModify")
        return body + "/" if is_deny and body + "/" in written else body

    @resolving.replaces(merge)
    def load(original, base, workspace=None):
        written.clear()
        return original(base, workspace)

    written = set()


@fault("POLICY-PROFILE-05", "resolve returns an exception as an allow", "flattened")
def exceptions_as_allows():
    @resolving.replaces(decide.Resolved)
    def as_json(original, self):
        told = original(self)
        modify = [plain(entry) if isinstance(entry, dict) else entry for entry in told["modify"]]
        return told | {"modify": modify}


def plain(entry):
    """Change only exceptions for an exact path: other requirements resolve exceptions for subtrees
    too."""
    return entry if entry["except"].endswith("/**") else entry["except"]


@fault(
    "POLICY-PROFILE-02",
    "an omitted profile means the profile of the previous check",
    "a variable kept",
)
def profile_of_the_check_before():
    last: dict[str, object] = {}

    @replaces(ops.Check, "__init__")
    def init(original, self, value, pointer, follows):
        if pointer == "/checks/0":
            last.clear()
        original(self, value, pointer, follows)
        if self.profile is None:
            self.profile = last.get("profile")
        last["profile"] = self.profile


@fault(
    "POLICY-PROFILE-04", "the built-in unrestricted lacks the workspace's denies", "made too early"
)
def synthesised_without_the_workspace():
    @replaces(decide.Resolved)
    def append_denies(original, self, policy):
        original(self, policy)
        if self.origin == "synthesized":
            self.read = [each for each in self.read if each.rule.file != "workspace"]
            self.modify = [each for each in self.modify if each.rule.file != "workspace"]


@fault("POLICY-PROFILE-03", "unrestricted of a workspace file is ignored", "asked of one file")
def unrestricted_of_a_workspace():
    @replaces(merge)
    def merged(original, base, workspace):
        policy = original(base, workspace)
        if "unrestricted" not in base.policy.profiles:
            policy.profiles.pop("unrestricted", None)
        return policy


@fault(
    "POLICY-PROFILE-01", "with follow, any unknown profile is unrestricted", "get with a default"
)
def anybody_follows_links():
    @following.replaces(decide)
    def Resolved(original, policy, name):
        return original(policy, name if name in policy.profiles else None)


@fault("POLICY-PROFILE-02", "with follow, an omitted profile is an error", "a required field")
def nobody_follows_links():
    @following.replaces(decide)
    def Resolved(original, policy, name):
        if name is None:
            raise Refused("no profile is named")
        return original(policy, name)
