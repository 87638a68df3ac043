"""POLICY-FILE: keys follow the same rules as values.

Each mistake is tested at every place where a file may have its own key.
"""

from __future__ import annotations

import json

import pytest

from boxspec.api import NotApplicable, expect, requires
from contracts.policy.client import PolicyCase
from contracts.shared.documents import policy_file

# A policy with one key that its author can choose. `{}` stands for the key with its quotes.
PLACES = {
    "label": '{"schemaVersion": 2, "kind": "Policy", "metadata": {"name": "t", "labels": '
    '{{}: "v"}}, "spec": {}}',
    "annotation": '{"schemaVersion": 2, "kind": "Policy", "metadata": {"name": "t", '
    '"annotations": {"zz0": "b", {}: "v"}}, "spec": {}}',
    "profile": '{"schemaVersion": 2, "kind": "Policy", "metadata": {"name": "t"}, "spec": '
    '{"fsProfiles": {{}: {"read": ["**"]}}}}',
}
FORMATS = ("json", "yaml")


def loads(case: PolicyCase, format_: str, place: str, keys: list[bytes]) -> bool:
    """True if a policy with these keys at this place loads. A key includes its quotes."""
    if f"policy.{format_}" not in case.capabilities:
        raise NotApplicable.without(f"policy.{format_}")
    value = b'{"read": ["**"]}' if place == "profile" else b'"v"'
    pairs = (b": " + value + b", ").join(keys)
    whole = PLACES[place].encode().replace(b"{}:", pairs + b":", 1)
    answer = case.policy.load(policy_file(whole, format_))
    # The next line fails the test if the answer is neither a result nor an error.
    return answer.ok or not answer.error


def refused(case: PolicyCase, format_: str, mistake: bytes) -> None:
    """Fail unless a key with the mistake is refused in each place.

    The mistake is at the beginning and at the end of the key.
    """
    for place in PLACES:
        for key in (mistake, b"a" + mistake, mistake + b"a", b"a" * 70 + mistake):
            got = loads(case, format_, place, [b'"' + key + b'"'])
            expect(f"whether a {place} with the key {key!r} loads", got, False)
        good = loads(case, format_, place, [b'"' + b"a" * 70 + b'"'])
        expect(f"whether a {place} with a plain key loads", good, True)


BROKEN = [b"\x01", b"\x1f", b"\n", b"\t", b"\\x", b"\\'", b"\\u12", b"\\u12g4", b"\\U00000041",
          b"\\v", b"\\e", b"\\0", b"\\!", b"\\u+041", b"\\u0_41", b"\\u 041", b"\\u0x41",
          b"\\u\xef\xbc\x9041", b"\\ud800", b"\\udc00", b"\\udc00\\ud800",
          b"\\ud83d\\ud83d", b"\\ud83dx"]  # fmt: skip


@requires("POLICY-FILE-10")
@pytest.mark.parametrize("mistake", BROKEN, ids=ascii)
def test_a_key_of_json_has_the_rules_of_a_string(case: PolicyCase, mistake: bytes) -> None:
    refused(case, "json", mistake)


@requires("POLICY-FILE-11")
@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("mistake", [b"\0", b"\xff", b"\xc0\xaf", b"\xed\xa0\x80"], ids=ascii)
def test_a_key_has_no_bytes_that_no_text_has(
    case: PolicyCase, mistake: bytes, format_: str
) -> None:
    refused(case, format_, mistake)


@requires("POLICY-FILE-11")
@pytest.mark.parametrize(
    ("format_", "mistake"),
    [("json", b"\\u0000"), ("yaml", b"\\0"), ("yaml", b"\\x00"), ("yaml", b"\\u0000")],
)
def test_a_key_has_no_escaped_nul(case: PolicyCase, format_: str, mistake: bytes) -> None:
    refused(case, format_, mistake)


# Different names that an inexact comparison takes for equal.
ALIKE = [
    ("a", "A"),
    ("\u00e9", "e\u0301"),
    ("\u00e9", "\u00c9"),
    ("a", "a "),
    ("a", " a"),
    ("a", "a\u00a0"),
    ("a", "a\u200b"),
    ("1", "01"),
    ("a.b", "a_b"),
    ("\ufb01", "fi"),
    ("a/b", "a//b"),
    ("Aa", "BB"),
    ("costarring", "liquid"),
]
LENGTHS = (2, 8, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 4096)


@requires("POLICY-FILE-08")
@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("place", PLACES)
def test_keys_that_are_almost_equal_stay_different(
    case: PolicyCase, place: str, format_: str
) -> None:
    for one, other in ALIKE:
        keys = [json.dumps(each, ensure_ascii=False).encode() for each in (one, other)]
        expect(f"whether {one!r} and {other!r} load", loads(case, format_, place, keys), True)
        twice = [keys[0], keys[0]]
        expect(f"whether {one!r} loads twice", loads(case, format_, place, twice), False)


@requires("POLICY-FILE-08")
@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("place", PLACES)
def test_keys_of_every_length_are_compared_as_a_whole(
    case: PolicyCase, place: str, format_: str
) -> None:
    # In YAML a key must end within 1,024 characters.
    for length in (each for each in LENGTHS if format_ == "json" or each <= 1000):
        base = b"k" * (length - 1)
        keys = [b'"' + base + end + b'"' for end in (b"a", b"b")]
        expect(
            f"whether two keys of {length} characters load, which differ in the last one",
            loads(case, format_, place, keys),
            True,
        )
        again = loads(case, format_, place, [*keys, keys[0]])
        expect(f"whether a repeated key of {length} characters loads", again, False)


@requires("POLICY-FILE-15", capability="policy.yaml")
@pytest.mark.parametrize("key", ["", "? ", "~", "? ~"])
def test_a_key_that_is_left_out_is_no_string(case: PolicyCase, key: str) -> None:
    """Load a flow mapping with a key that is null. A quoted empty key is a string."""
    for given, wanted in ((key, False), (key.removesuffix("~") + '""', True)):
        text = (
            "schemaVersion: 2\nkind: Policy\nspec: {}\n"
            f"metadata: {{name: x, labels: {{{given} : v}}}}\n"
        )
        answer = case.policy.load(policy_file(text.encode(), "yaml"))
        expect(f"whether a policy with the labels {{{given} : v}} loads", answer.ok, wanted)
