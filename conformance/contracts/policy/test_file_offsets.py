"""POLICY-FILE: characters at every offset of a text, and at its end."""

from __future__ import annotations

import pytest

from boxspec.api import Answer, Failure, NotApplicable, expect, requires
from contracts.policy.api import offsets
from contracts.policy.client import PolicyCase
from contracts.shared.documents import Policy, policy_file

HEAD = {
    "json": '{"schemaVersion": 2, "kind": "Policy", "metadata": {"name": "test"}, "spec": ',
    "yaml": "schemaVersion: 2\nkind: Policy\nmetadata: {name: test}\nspec: ",
}
TAIL = {"json": "}", "yaml": "\n"}
FORMATS = list(HEAD)


def text_of(format_: str, spec: bytes) -> Policy:
    return policy_file(HEAD[format_].encode() + spec + TAIL[format_].encode(), format_)


def needs(case: PolicyCase, format_: str) -> None:
    if f"policy.{format_}" not in case.capabilities:
        raise NotApplicable.without(f"policy.{format_}")


def refused_at_every_offset(case: PolicyCase, format_: str, character: bytes) -> None:
    """Put the character into a string, at each offset within a word and around each step size."""
    needs(case, format_)
    for length in (*range(20), *offsets.NEAR):
        pad = offsets.name(length) if length else ""
        spec = b'{"description": "' + pad.encode() + character + b'bb"}'
        answer = case.policy.load(text_of(format_, spec))
        expect(f"whether {character!r} after {length} characters loads", answer.ok, False)
    good = b'{"description": "' + offsets.name(200).encode() + b'bb"}'
    expect(
        "whether the same file without that character loads",
        case.policy.load(text_of(format_, good)).ok,
        True,
    )


@requires("POLICY-FILE-10")
@pytest.mark.parametrize("character", [b"\x01", b"\x1f", b"\n", b"\t", b'"', b"\\x"], ids=ascii)
def test_a_character_that_json_strings_forbid_is_found_at_every_offset(
    case: PolicyCase, character: bytes
) -> None:
    refused_at_every_offset(case, "json", character)


@requires("POLICY-FILE-11")
@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize(
    "character",
    [b"\0", b"\xff", b"\x80", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc3"],
    ids=ascii,
)
def test_invalid_utf_8_is_found_at_every_offset(
    case: PolicyCase, character: bytes, format_: str
) -> None:
    refused_at_every_offset(case, format_, character)


@requires("POLICY-FILE-15")
@pytest.mark.parametrize("character", ["\u0085", "\u2028", "\u2029"], ids=ascii)
def test_line_breaks_of_some_yaml_readers_are_found_at_every_offset(
    case: PolicyCase, character: str
) -> None:
    refused_at_every_offset(case, "yaml", character.encode())
    # At the end of a text, a reader may use smaller steps.
    for following in range(40):
        spec = f"{{}}\n# {'-' * 80}{character}{'k' * following}".encode()
        answer = case.policy.load(text_of("yaml", spec))
        expect(f"whether {character!r} before {following} characters loads", answer.ok, False)


# Each escape, with the text that it means.
ESCAPES = {
    "json": {"\\u00e9": "é", "\\ud83d\\ude00": "😀", "\\u0041": "A", "\\/k": "/k", "é": "é"},
    "yaml": {"\\xe9": "é", "\\U0001F600": "😀", "\\u0041": "A", "\\/k": "/k", "é": "é"},
}


@requires("POLICY-FILE-18")
@pytest.mark.parametrize("format_", FORMATS)
def test_escapes_are_decoded_at_every_offset(case: PolicyCase, format_: str) -> None:
    needs(case, format_)
    for written, meant in ESCAPES[format_].items():
        pads = [pad(length) for length in offsets.EVERY for pad in (offsets.name, offsets.wide)]
        rules = ", ".join(f'"{pad}{written}b"' for pad in pads)
        spec = f'{{"fsProfiles": {{"p": {{"read": [{rules}]}}}}}}'
        got = case.policy.resolve(text_of(format_, spec.encode())).result["read"]
        wanted = [f"{pad}{meant}b" for pad in pads]
        wrong = [pair for pair in zip(got, wanted, strict=True) if pair[0] != pair[1]]
        expect(f"strings with {written}: the loaded ones and the expected ones", wrong[:3], [])


def places_inside(text: str, answer: Answer) -> None:
    lines = text.split("\n")
    for each in answer.error.get("problems", []):
        line, column = each.get("line"), each.get("column")
        if line is None or column is None:
            raise Failure("a problem has a line and a column", "both", str(answer.raw))
        inside = line <= len(lines) and column <= len(lines[line - 1]) + 1
        expect(f"whether {line}:{column} lies in the file", inside, True, {"lines": len(lines)})


@requires("POLICY-FILE-06", capability="policy.yaml")
@pytest.mark.parametrize("spec", ['{denyRead: ["é", b], denyModify: [b]}', "\n  denyRead:\n  - 'a"])
def test_the_place_of_a_problem_lies_in_the_beginning_of_a_file(
    case: PolicyCase, spec: str
) -> None:
    """Load each beginning of a file. A YAML reader may wrongly report a place after the last
    line."""
    text = HEAD["yaml"] + spec
    for length in range(len(HEAD["yaml"]), len(text) + 1):
        answer = case.policy.load({"text": text[:length], "format": "yaml"})
        if not answer.ok:
            places_inside(text[:length], answer)


@requires("POLICY-FILE-06", capability="policy.yaml")
@pytest.mark.parametrize("character", ["\x01", "\x1f", "\x7f", "\u2028"], ids=ascii)
def test_a_refused_character_is_reported_at_its_place(case: PolicyCase, character: str) -> None:
    """Load a file with a refused character near its end.

    There an implementation's own scan may end, so that the YAML reader finds the character.
    """
    for following in range(20):
        spec = f"{{}}\n# {'-' * 80}{character}{'k' * following}"
        answer = case.policy.load({"text": HEAD["yaml"] + spec, "format": "yaml"})
        expect(f"whether {character!r} before {following} characters loads", answer.ok, False)
        places = [
            (each.get("line"), each.get("column")) for each in answer.error.get("problems", [])
        ]
        expect(f"the place of {character!r} before {following} characters", places, [(5, 83)])
