"""POLICY-FILE: fields, values and names that a lenient reader takes for the right ones."""

from __future__ import annotations

import json
from typing import Any

import pytest

from boxspec.api import expect, requires
from contracts.policy.api import Policy, loads
from contracts.policy.client import PolicyCase


def file(level: str = "", **fields: Any) -> Policy:
    """Return a policy with additional fields at one level of the file."""
    profile: dict[str, Any] = {"read": ["**"]}
    spec: dict[str, Any] = {"fsProfiles": {"p": profile}}
    metadata: dict[str, Any] = {"name": "test"}
    top = {"schemaVersion": 2, "kind": "Policy", "metadata": metadata, "spec": spec}
    {"": top, "metadata": metadata, "spec": spec, "profile": profile}[level].update(fields)
    return {"text": json.dumps(top, ensure_ascii=False), "format": "json"}


LEVELS = ["", "metadata", "spec", "profile"]
# Names that a reader may treat as known: names with another case or with letters that fold to `k`
# and `s` (Go compares the names of fields like this), extensions, and names that every object of
# JavaScript or Python has.
UNKNOWN = ["READ", "Kind", "\u212aind", "\u017fpec", "denyread", "spec ", "", "x-note", "_note",
           "//", "$schema", "apiVersion", "__proto__", "constructor", "toString", "__class__",
           "get"]  # fmt: skip


@requires("POLICY-FILE-07")
@pytest.mark.parametrize("level", LEVELS, ids=["file", *LEVELS[1:]])
@pytest.mark.parametrize("name", UNKNOWN, ids=ascii)
def test_a_name_that_looks_known_is_unknown(case: PolicyCase, name: str, level: str) -> None:
    loads(case, file(level))
    loads(case, file(level, **{name: "x"}), False)


@requires("POLICY-FILE-07")
@pytest.mark.parametrize("level", LEVELS, ids=["file", *LEVELS[1:]])
@pytest.mark.parametrize("value", [None, False, 0, "", [], {}], ids=json.dumps)
def test_an_unknown_field_without_content_is_unknown(
    case: PolicyCase, value: object, level: str
) -> None:
    loads(case, file(level))
    loads(case, file(level, note=value), False)


@requires("POLICY-FILE-14")
@pytest.mark.parametrize("letter", [*"[\\]^`.:/@{", "\u212a", "\u017f", "\u00e9", "\uff41",
                                    "\u0663", "\n", "\u00a0"], ids=ascii)  # fmt: skip
def test_a_name_has_no_other_characters(case: PolicyCase, letter: str) -> None:
    loads(case, file("metadata", name="Az_09-"))
    for name in (letter, f"a{letter}", f"{letter}a"):
        loads(case, file("metadata", name=name), False)


@requires("POLICY-FILE-14")
def test_a_name_may_begin_and_end_with_each_of_its_characters(case: PolicyCase) -> None:
    for name in ("-", "_", "-a-", "_a_", "0", "9a9", "AZaz", "z" * 64):
        loads(case, file("metadata", name=name))


@requires("POLICY-FILE-14")
@pytest.mark.parametrize("field", ["labels", "annotations"])
def test_labels_are_any_strings(case: PolicyCase, field: str) -> None:
    strings = ["", " ", "a b", "a@b", "example.org/a", "\u00e9", "a\nb", "-", "a" * 300]
    loads(case, file("metadata", **{field: dict.fromkeys(strings, "v")}))
    loads(case, file("metadata", **{field: {"k" * (1 + at): s for at, s in enumerate(strings)}}))


@requires("POLICY-FILE-03")
@pytest.mark.parametrize("bits", [1, 8, 16, 32, 53, 64])
def test_a_version_is_not_cut_to_a_machine_word(case: PolicyCase, bits: int) -> None:
    for version in (2 ** (bits + 1), 2**bits + 1, 2**bits + 2, -(2**bits)):
        answer = case.policy.load(file(schemaVersion=version))
        told = [] if answer.ok else answer.error.get("problems", [])
        wanted = f"unsupported policy schemaVersion {version}"
        expect("the only problem", [each["message"] for each in told], [wanted])


@requires("POLICY-FILE-03")
@pytest.mark.parametrize("digits", [300, 4301, 100_000])
def test_a_version_may_have_any_number_of_digits(case: PolicyCase, digits: int) -> None:
    text = file(schemaVersion=0)["text"].replace(": 0,", f": {'3' * digits},", 1)
    answer = case.policy.load({"text": text, "format": "json"})
    told = [] if answer.ok else [each["pointer"] for each in answer.error.get("problems", [])]
    expect("places of the problems", told, ["/schemaVersion"])


@requires("POLICY-FILE-04")
@pytest.mark.parametrize("kind", ["policy", "POLICY", "Policy\n", " Policy", "Policy ", "Policy\t",
                                  "\uff30olicy", "Policies"], ids=ascii)  # fmt: skip
def test_a_kind_has_exactly_one_spelling(case: PolicyCase, kind: str) -> None:
    loads(case, file())
    loads(case, file(kind=kind), False)


@requires("POLICY-FILE-15", capability="policy.yaml")
@pytest.mark.parametrize("directive", ["%YAML 2.0", "%YAML 3.1", "%YAML 11.2", "%TAG ! !x",
                                       "%NAME x", "%YAML 1.2\n%YAML 1.2"])  # fmt: skip
def test_a_file_has_one_directive_of_yaml_1(case: PolicyCase, directive: str) -> None:
    for before, wanted in (("%YAML 1.2", True), (directive, False)):
        text = f"{before}\n---\n{file()['text']}\n"
        loads(case, {"text": text, "format": "yaml"}, wanted)


# Blanks of Unicode, of C and of JavaScript. JSON has only space, tab, LF and CR.
BLANKS = [
    "\x0b",
    "\x0c",
    "\x1c",
    "\x85",
    "\u00a0",
    "\u2028",
    "\u2029",
    "\u3000",
    "\u200b",
    "\ufeff",
]


@requires("POLICY-FILE-10", capability="policy.json")
@pytest.mark.parametrize("blank", BLANKS, ids=ascii)
def test_json_has_four_blanks(case: PolicyCase, blank: str) -> None:
    text = file()["text"]
    for before, after in (("{", ""), ("", "}"), (":", ""), ("", ",")):
        at = before + after
        for mark, wanted in ((" \t\r\n", True), (blank, False)):
            changed = text.replace(at, before + mark + after, 1)
            loads(case, {"text": changed, "format": "json"}, wanted)


@requires("POLICY-FILE-12")
@pytest.mark.parametrize("bracket", "[{")
def test_brackets_in_strings_are_no_levels(case: PolicyCase, bracket: str) -> None:
    for name in (bracket * 300, f'"{bracket}' * 300, f"\\{bracket}" * 300):
        loads(case, file("spec", description=name, denyModify=[bracket * 300]))
        loads(case, file("metadata", labels={name: "v"}))


# More than a round number, at which a list of problems may end.
MANY = 1030


@requires("POLICY-FILE-05")
def test_each_of_many_problems_is_reported(case: PolicyCase) -> None:
    rules = [f"/{at}" for at in range(MANY)]
    answer = case.policy.load(file("spec", denyModify=rules))
    told = [] if answer.ok else [each["pointer"] for each in answer.error.get("problems", [])]
    expect("pointers of the problems", told, [f"/spec/denyModify/{at}" for at in range(MANY)])
