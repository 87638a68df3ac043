"""MODULE-JSON: one JSON value as input, and one as output."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from boxspec.api import expect, one_of, requires, written
from boxspec.api import programs as P
from boxspec.places import ROOT
from contracts.module.client import Executed, ModuleCase
from contracts.module.judging import end, printing, quoted
from contracts.shared.moments import attempted

VECTORS = ROOT / "fixtures" / "vectors"

VALUES: dict[str, Any] = {
    "null": None,
    "a number": -7,
    "an empty text": "",
    "an empty list": [],
    "an empty object": {},
    "everything": {
        "": [True, False, None, 0, -1, 2.5, 1e-7, 123456789012345678901234567890],
        "text": 'é\U0001f600\u0000\x1f"\\/\u2028',
        "deep": [[[[[[[[{"a": {"b": {}}}]]]]]]]],
    },
}
# The depth of nesting that every implementation must accept.
VALUES["64 levels"] = json.loads("[" * 64 + "]" * 64)
VALUES["what looks like an answer"] = {"value": 1, "error": {"class": "Timeout"}, "result": 2}
VALUES["names that are much alike"] = {
    "__proto__": {"a": 1},
    "a": 1,
    "A": 2,
    "\u00e9": 3,
    "e\u0301": 4,
}
VALUES["a text that is JSON"] = '{"a": [1]}'
VALUES["false"] = False
# A parser may read a number at the top level into a double, although it is exact in lists.
VALUES |= {f"only {each}": each for each in (2**53 + 1, -(2**63) - 1, 0.1)}
VALUES["numbers to the last digit"] = [3.141592653589793, 1.7976931348623157e308, 5e-324, 0.1]


def expect_value(seen: Executed, value: Any) -> None:
    # Compare as text, because Python treats 1, true and 1.0 as equal.
    got, wanted = (json.dumps(each, sort_keys=True) for each in (seen.value, value))
    expect("outcome of the module, and the value", (end(seen), got), ("value", wanted))


@requires("MODULE-JSON-01")
@pytest.mark.parametrize("what", VALUES)
def test_a_value_arrives_unchanged(case: ModuleCase, what: str) -> None:
    expect_value(printing(case, json.dumps(VALUES[what]).encode()), VALUES[what])


@requires("MODULE-JSON-01")
@pytest.mark.parametrize("text", ["{}7", " \t\r\n{}7", "{}7 \t\r\n", '{}"caf\u00e9"'])
def test_white_space_and_spelling_do_not_count(case: ModuleCase, text: str) -> None:
    text = text.format("")
    expect_value(printing(case, text.encode()), json.loads(text))


@requires("MODULE-JSON-01")
def test_a_character_split_between_two_reads_stays_whole(case: ModuleCase) -> None:
    text = "\u20ac" * 100_000
    seen = printing(case, f'"{text}"'.encode())
    expect(
        "outcome of the module, and whether the value is whole",
        (end(seen), seen.value == text),
        ("value", True),
    )


LEFT: dict[str, tuple[str, list[str], tuple[str, Any]]] = {
    "a number": ("12", [], ("OutputParseFailed", None)),
    "a negative number after blanks": (" \\n-1.5", [], ("OutputParseFailed", None)),
    "a process outside of the group": ("12", ["--setsid"], ("OutputParseFailed", None)),
    "a process that hides its descriptors": ("12", ["--hidden"], ("OutputParseFailed", None)),
    "a number and a line feed": ("12\\n", [], ("value", 12)),
    "a list that ends": ("[12]", [], ("value", [12])),
    "a number, and stdout is closed": ("12", ["--keep", "none"], ("value", 12)),
    "a number, and a process with stderr": ("12", ["--keep", "err"], ("value", 12)),
    "a number, and a hidden process with stderr": (
        "12",
        ["--keep", "err", "--hidden"],
        ("value", 12),
    ),
}


@requires("MODULE-JSON-04")
@pytest.mark.parametrize("what", LEFT)
def test_a_number_that_a_process_could_continue_is_no_value(case: ModuleCase, what: str) -> None:
    """Execute a module that prints a part of its output and leaves a process with stdout."""
    text, words, wanted = LEFT[what]
    events = case.events()
    keep = [] if "--keep" in words else ["--keep", "out"]
    command = " ".join(quoted(each) for each in (P.orphan, events.path, *keep, *words))
    case.module.script("leaves", f"printf '{text}'; exec {command}")
    seen = case.module.execute("leaves", within_s=15)
    attempted(events, orphan=1)
    expect("outcome of the module, and the value", (end(seen), seen.value), wanted)


@requires("MODULE-JSON-01")
def test_stderr_is_no_part_of_the_value(case: ModuleCase) -> None:
    case.module.script("warns", "echo 'warning: old' >&2; echo 1; echo '2' >&2")
    seen = case.module.execute("warns")
    expect("outcome of the module, and the value", (end(seen), seen.value), ("value", 1))


@requires("MODULE-JSON-02")
def test_a_value_on_stderr_is_not_the_value(case: ModuleCase) -> None:
    case.module.script("prints", "echo 1 >&2")
    expect_refused(case.module.execute("prints"))


@requires("MODULE-JSON-01")
@pytest.mark.parametrize("text", ["1e400", "[-1e400]"])
def test_a_number_beyond_all_doubles_is_itself_or_refused(case: ModuleCase, text: str) -> None:
    seen = printing(case, text.encode())
    got = end(seen) if seen.outcome == "OutputParseFailed" else (end(seen), seen.value)
    expect(
        "outcome of the module, and the value",
        got,
        one_of("OutputParseFailed", ("value", json.loads(text))),
    )


REFUSED: dict[str, bytes] = {
    "nothing": b"",
    "blanks": b" \n",
    "two values": b"1 2",
    "two lines": b'{"a": 1}\n{"a": 2}\n',
    "noise in front": b'loading\n{"a": 1}',
    "noise behind": b'{"a": 1}\ndone',
    "a NUL behind": b"1\0",
    "NaN": b"[NaN]",
    "Infinity": b"-Infinity",
    "a byte order mark": b"\xef\xbb\xbf1",
    "no UTF-8 in a text": b'"a\xffb"',
    "an encoded surrogate": b'"\xed\xa0\x80"',
    "no-break space around": b"\xc2\xa01",
    "a form feed around": b"1\x0c",
    "half a value": b'{"a": ',
    "a name of Python's": b"None",
}


@requires("MODULE-JSON-02")
@pytest.mark.parametrize("what", REFUSED)
def test_output_that_is_not_one_value_is_refused(case: ModuleCase, what: str) -> None:
    expect_refused(printing(case, REFUSED[what]))


def expect_refused(seen: Executed) -> None:
    got = (end(seen), seen.field("module_id"), isinstance(seen.field("reason"), str))
    wanted = ("OutputParseFailed", "prints", True)
    expect("class, module_id and whether there is a reason", got, wanted)


@cache
def vectors() -> dict[str, dict[str, Any]]:
    """Return texts that no reader may accept as JSON, from the vectors of the contract policy."""
    found = {}
    for name in ("json-syntax", "json-strings"):
        for vector in json.loads((VECTORS / f"{name}.json").read_text("utf-8"))["vectors"]:
            found[vector["id"]] = vector
    return found


def chosen(grid: bool) -> list[str]:
    return [name for name, vector in vectors().items() if bool(vector.get("grid")) is grid]


@requires("MODULE-JSON-02")
@pytest.mark.parametrize("vector", chosen(False))
def test_a_text_of_the_policy_vectors_is_refused(case: ModuleCase, vector: str) -> None:
    expect_refused(printing(case, vectors()[vector]["text"].encode("utf-8", "surrogatepass")))


@requires("MODULE-JSON-02", stress=True)
@pytest.mark.parametrize("vector", chosen(True))
def test_every_text_of_the_policy_vectors_is_refused(case: ModuleCase, vector: str) -> None:
    expect_refused(printing(case, vectors()[vector]["text"].encode("utf-8", "surrogatepass")))


@requires("MODULE-JSON-03")
@pytest.mark.parametrize("what", VALUES)
def test_the_input_is_the_same_value(case: ModuleCase, what: str) -> None:
    place = case.tmp / "input"
    case.module.script("keeps", f"cat >{quoted(place)}; echo 1")
    seen = case.module.execute("keeps", VALUES[what])
    expect("outcome of the module", end(seen), "value")
    got = json.dumps(json.loads(written(place)), sort_keys=True)
    expect("the module's stdin, read as JSON", got, json.dumps(VALUES[what], sort_keys=True))
