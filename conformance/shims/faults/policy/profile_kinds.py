"""Faults of kinds that occur in any engine, by the table of the contract."""

import policy.decide as decide
import policy.fold as folding
import policy.ops as ops
from faults.registry import fault, replaces


def found_as(change):
    @replaces(decide.Resolved)
    def synthesize(original, self):
        if change(self.name) == decide.UNRESTRICTED:
            self.name = decide.UNRESTRICTED
        return original(self)


# Kind C13 of contracts/kinds-policy.yaml: names like the built-in one


@fault("POLICY-PROFILE-01", "UNRESTRICTED is the built-in profile, too", "names without case")
def built_in_without_case():
    found_as(str.lower)


@fault("POLICY-PROFILE-01", "`unrestricted` may have blanks around it", "values are trimmed")
def built_in_with_blanks():
    found_as(str.strip)


@fault("POLICY-PROFILE-01", "an empty name is the built-in profile", "not name")
def empty_name_is_built_in():
    found_as(lambda name: name or decide.UNRESTRICTED)


@fault(
    "POLICY-PROFILE-01", "a name that begins with `unrestricted` is the built-in one", "a prefix"
)
def built_in_by_its_beginning():
    found_as(lambda name: name[:12])


@fault("POLICY-PROFILE-01", "names of profiles are found without case", "a table without case")
def profiles_without_case():
    @replaces(decide.Resolved)
    def __init__(original, self, policy, name):
        wanted = next((each for each in policy.profiles if each.lower() == str(name).lower()), name)
        original(self, policy, wanted if name is not None else None)


def looked_up_by(key):
    @replaces(decide.Resolved)
    def __init__(original, self, policy, name):
        alike = [each for each in policy.profiles if name is not None and key(each) == key(name)]
        original(self, policy, alike[0] if alike and name not in policy.profiles else name)


@fault("POLICY-PROFILE-01", "a requested name ends at a NUL", "strcmp")
def name_ends_at_a_nul():
    looked_up_by(lambda name: name.partition("\0")[0])


@fault("POLICY-PROFILE-01", "64 bytes of a requested name are compared", "strncmp")
def long_names_are_cut():
    looked_up_by(lambda name: name[:64])


def omitted_means(choose):
    @replaces(decide.Resolved)
    def __init__(original, self, policy, name):
        found = choose(policy) if name is None else name
        original(self, policy, found if found in policy.profiles else name)


@fault("POLICY-PROFILE-02", "without a profile `default` is meant, if it exists", "a usual name")
def default_is_meant():
    omitted_means(lambda policy: "default")


@fault("POLICY-PROFILE-02", "without a profile that with the policy's name is meant", "one name")
def name_of_the_policy_is_meant():
    omitted_means(lambda policy: policy.name)


@fault("POLICY-PROFILE-01", "with fold, names of profiles fold", "one folding for all texts")
def names_fold_with_the_paths():
    @replaces(ops.Asked)
    def answers(original, self, reader, answer, follows=False):
        if reader.fields.get("case") == "fold":
            for name, profile in list(self.policy.profiles.items()):
                self.policy.profiles.setdefault(folding.fold(name).upper(), profile)
        return original(self, reader, answer, follows)
