"""POLICY-PROFILE: the lists that a profile name selects."""

from __future__ import annotations

import pytest

from boxspec.api import expect, requires
from contracts.policy.api import Group, judge, one_profile, policy, question, vectors
from contracts.policy.client import PolicyCase

# Requirements about the decisions by a single list.
CHECKS = ("POLICY-CHECK-02", "POLICY-CHECK-03", "POLICY-CHECK-04")


@vectors("POLICY-PROFILE")
def test_the_vectors_are_answered(case: PolicyCase, group: Group) -> None:
    judge(case, group)


@requires("POLICY-PROFILE-01")
@pytest.mark.parametrize("name", ["\u00e9", "e\u0301", "\u212b", "A\u030a", "\ufb01", "fi"])
def test_another_unicode_form_of_a_name_is_another_profile(case: PolicyCase, name: str) -> None:
    """Use names that differ, but become equal by composing, decomposing or compatibility
    mappings."""
    others = {"\u00e9", "e\u0301", "\u212b", "A\u030a", "\u00c5", "\ufb01", "fi"} - {name}
    own = policy({"fsProfiles": {name: {"read": ["**"]}}})
    asked = [question("read", "x", each) for each in (name, *sorted(others))]
    wanted = [True, *(None for _ in others)]
    expect(
        "decisions for the profile, and for names in another Unicode form",
        case.policy.allowed(own, asked),
        wanted,
    )


# Names that an empty table already contains in some programming languages.
INHERITED = [
    *("constructor", "toString", "hasOwnProperty", "valueOf", "__proto__", "prototype"),
    *("__class__", "__dict__", "items", "get", "__index", "metatable", "length", "0", "null"),
]


@requires("POLICY-PROFILE-01", needs=["POLICY-CHECK-03", "POLICY-CHECK-04"])
@pytest.mark.parametrize("name", INHERITED)
def test_a_built_in_name_of_a_language_is_no_profile(case: PolicyCase, name: str) -> None:
    asked = [question(op, "x", name) for op in ("read", "modify")]
    expect(
        "decisions for an unknown profile", case.policy.allowed(one_profile(), asked), [None] * 2
    )
    own = policy({"fsProfiles": {name: {"read": ["**"], "modify": ["y"]}}})
    expect(
        "decisions for the profile once it is defined",
        case.policy.allowed(own, asked),
        [True, False],
    )


@requires("POLICY-PROFILE-02", needs=["POLICY-CHECK-03"])
def test_an_omitted_profile_is_unrestricted_after_any_other(case: PolicyCase) -> None:
    own = policy({"fsProfiles": {"p": {"read": ["x"]}, "q": {"read": ["y"]}}})
    profiles = [None, "p", None, "q", None, None, "nobody", None, "p"]
    asked = [question("read", "y", name) for name in profiles]
    wanted = [True, False, True, True, True, True, None, True, False]
    expect(f"whether `y` may be read by {profiles}", case.policy.allowed(own, asked), wanted)


@requires("POLICY-PROFILE-04", needs=["POLICY-MERGE-02", *CHECKS])
@pytest.mark.parametrize("name", ["unrestricted", None])
def test_denies_of_a_workspace_narrow_a_synthesised_profile(
    case: PolicyCase, name: str | None
) -> None:
    own = policy({"denyRead": ["a"]}, {"denyRead": ["b"], "denyModify": ["c"]})
    asked = [question(op, path, name) for op in ("read", "modify") for path in "abcd"]
    wanted = [False, False, True, True, True, True, False, True]
    expect(
        "decisions about reading and modifying four paths", case.policy.allowed(own, asked), wanted
    )


@requires("POLICY-PROFILE-03", needs=["POLICY-MERGE-01", *CHECKS])
@pytest.mark.parametrize("name", ["unrestricted", None])
def test_a_workspace_may_define_unrestricted(case: PolicyCase, name: str | None) -> None:
    own = policy({}, {"fsProfiles": {"unrestricted": {"read": ["a"]}}})
    asked = [
        question("read", "a", name),
        question("read", "b", name),
        question("modify", "a", name),
    ]
    expect(
        "decisions about reading and modifying four paths",
        case.policy.allowed(own, asked),
        [True, False, False],
    )


# Names that are similar to the built-in name.
NEAR = ["Unrestricted", "UNRESTRICTED", "unrestricted ", " unrestricted", "unrestricted\t",
        "unrestricted\n", "unrestricte", "unrestricted2", "unrestricted/", "./unrestricted",
        "un restricted", "unrestricted\u200b", "\uff55nrestricted",
        "unre\u017ftricted"]  # fmt: skip


@requires("POLICY-PROFILE-01")
@pytest.mark.parametrize("name", NEAR, ids=ascii)
def test_a_name_like_the_built_in_one_is_unknown(case: PolicyCase, name: str) -> None:
    for own in (policy({}), policy({"fsProfiles": {"p": {"read": ["**"]}}})):
        asked = [question("read", "x", each) for each in ("unrestricted", name)]
        expect(f"decisions by `unrestricted` and by {name!r}", case.policy.allowed(own, asked),
               [True, None])  # fmt: skip


@requires("POLICY-PROFILE-01")
@pytest.mark.parametrize(
    "name",
    ["P", "p ", " p", "p\n", "\u03c1", "\uff50", "p.", "pp", "p\0", "p\0x"],
    ids=ascii,
)
def test_a_name_like_a_defined_one_is_unknown(case: PolicyCase, name: str) -> None:
    own = policy({"fsProfiles": {"p": {"read": ["**"]}}})
    asked = [question("read", "x", each) for each in ("p", name)]
    expect(f"decisions by `p` and by {name!r}", case.policy.allowed(own, asked), [True, None])


@requires("POLICY-PROFILE-01", capability="policy.fold")
@pytest.mark.parametrize("name", ["p", "P", "unrestricted", "UNRESTRICTED", "e\u0301", "\u00e9"])
def test_names_of_profiles_do_not_fold(case: PolicyCase, name: str) -> None:
    own = policy({"fsProfiles": {"p": {"read": ["**"]}, "e\u0301": {"read": ["**"]}}})
    found = case.policy.allowed(own, [question("read", "x", name)], "fold")
    known = name in ("p", "unrestricted", "e\u0301")
    expect("the decision under `case: fold`", found, [True if known else None])


@requires("POLICY-PROFILE-01")
@pytest.mark.parametrize("length", [31, 63, 64, 127, 255, 256, 1023, 4096])
def test_a_long_name_is_compared_to_its_end(case: PolicyCase, length: int) -> None:
    name = "p" * length
    own = policy({"fsProfiles": {name: {"read": ["**"]}, f"{name}b": {"read": ["y"]}}})
    asked = [question("read", "x", each) for each in (name, f"{name}b", f"{name}a", name[:-1])]
    expect("decisions", case.policy.allowed(own, asked), [True, False, None, None])


# Names that a reader may confuse with the name of the default profile.
DEFAULTS = ["default", "test", "main", "p", "*", "Policy", "null", "None", "undefined"]


@requires("POLICY-PROFILE-02")
@pytest.mark.parametrize("name", DEFAULTS)
def test_no_other_profile_is_the_default(case: PolicyCase, name: str) -> None:
    own = policy({"fsProfiles": {name: {"read": ["y"]}, "q": {"read": ["z"]}}})
    asked = [question(op, "x", None) for op in ("read", "modify")]
    expect("decisions without a profile", case.policy.allowed(own, asked), [True, True])
    alone = policy({"fsProfiles": {name: {"read": ["y"]}}})
    expect("the profile of the lists", case.policy.resolve(alone, None).result["read"], ["**"])
