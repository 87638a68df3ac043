"""POLICY-FILE: the format of a policy file, and the problems of an invalid one."""

from __future__ import annotations

import itertools
import json
import random
import re

import yaml

from boxspec.api import Answer, Failure, expect, known, requires
from contracts.policy.api import Group, every, judge, vectors
from contracts.policy.client import PolicyCase
from contracts.policy.vectors import policy_in


@vectors("POLICY-FILE")
def test_the_vectors_are_answered(case: PolicyCase, group: Group) -> None:
    judge(case, group)


SPEC = {
    "description": 'wörds, \\u00e9scapes "quoted"',
    "denyRead": ["**/*.env", "a b", "#x", "- y"],
    "denyModify": [".state/**", "!.state/cache/**", "**/*.env", "a b", "#x", "- y"],
    "fsProfiles": {
        "p": {"read": ["**"], "modify": ["src/**", "!src/generated/**"]},
        "yes": {"read": ["null", "1", "~x", "*.c"]},
    },
}
POLICY = {"schemaVersion": 2, "kind": "Policy", "metadata": {"name": "test"}, "spec": SPEC}
TEXT = json.dumps(POLICY, ensure_ascii=False, indent=1)


def as_json(text: str) -> dict[str, str]:
    return {"text": text, "format": "json"}


def is_json(text: str) -> bool:
    """True if a strict version of Python's JSON reader accepts the text."""

    def refuse(word: str) -> None:
        raise ValueError(word)

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len(dict(pairs)) != len(pairs):
            raise ValueError("twice")
        return dict(pairs)

    try:
        json.loads(text, parse_constant=refuse, object_pairs_hook=unique)
    except (ValueError, RecursionError):
        return False
    return True


def placed(text: str, answer: Answer) -> list[tuple[int | None, int | None]]:
    """Return the places of the problems. Fail if one of them lies outside the text."""
    places = [(each.get("line"), each.get("column")) for each in answer.error.get("problems", [])]
    expect("the number of problems", len(places) > 0, True, {"answer": answer.raw})
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for line, column in places:
        if line is None or column is None:
            raise Failure("a problem has a line and a column", "both", str(answer.raw))
        inside = line <= len(lines) and column <= len(lines[line - 1]) + 1
        expect(f"whether {line}:{column} lies in the file", inside, True, {"lines": len(lines)})
    return places


@requires("POLICY-FILE-10")
def test_no_truncated_file_loads(case: PolicyCase) -> None:
    text = json.dumps({**POLICY, "spec": {"denyRead": ["é", "b"], "denyModify": ["b"]}})
    for length in range(len(text)):
        answer = case.policy.load(as_json(text[:length]))
        expect(f"whether the first {length} characters load", answer.ok, False)
        placed(text[:length], answer)
    expect("whether the whole file loads", case.policy.load(as_json(text)).ok, True)


@requires("POLICY-FILE-10")
def test_a_file_that_a_strict_reader_refuses_never_loads(case: PolicyCase) -> None:
    chance = random.Random(case.session.seed)
    for _ in range(120):
        at = chance.randrange(len(TEXT))
        cut = chance.randint(0, 2)
        new = "".join(chance.choices('{}[]",:\\0e+-.\t\n/*tnu\x01\x7f', k=chance.randint(0, 2)))
        text = TEXT[:at] + new + TEXT[at + cut :]
        answer = case.policy.load(as_json(text))
        if not is_json(text):
            expect(f"whether a file with {new!r} at {at} loads", answer.ok, False)
            placed(text, answer)


@requires("POLICY-FILE-05", capability="policy.json")
def test_problems_come_in_the_order_of_the_file(case: PolicyCase) -> None:
    chance = random.Random(case.session.seed)
    for _ in range(12):
        spec = {
            "denyRead": [chance.choice(["/x", "ok", 5, "..", ""]) for _ in range(4)],
            "unknown": 1,
            "denyModify": [chance.choice(["/x", "ok", None, "~", "!"]) for _ in range(4)],
            "fsProfiles": {"p": {"read": ["/a", "b", "c/.."], "more": []}},
        }
        keys = list(spec)
        chance.shuffle(keys)
        text = json.dumps({**POLICY, "spec": {key: spec[key] for key in keys}}, indent=1)
        answer = case.policy.load(as_json(text))
        places = placed(text, answer)
        expect("places of the problems", places, sorted(places), {"answer": answer.raw})
        again = case.policy.load(as_json(text))
        first, second = (known.answer("policy.load", {"error": e.error}) for e in (answer, again))
        expect("the file, loaded a second time", second, first)


@requires("POLICY-FILE-05")
def test_problems_of_shape_and_of_sense_are_reported_together(case: PolicyCase) -> None:
    """Load a file with wrong fields and wrong types, and with rules that are wrong together."""
    spec = {
        "unknown": 1,
        "denyRead": ["k", "!s", 5],
        "denyModify": ["d/**", "!e/f", "/x"],
        "fsProfiles": {"p": {"read": ["a", "k", None], "modify": ["b"], "more": []}},
    }
    answer = case.policy.load(as_json(json.dumps({**POLICY, "spec": spec})))
    reported = {each["pointer"] for each in answer.error.get("problems", ())}
    places = ["unknown", "denyRead/1", "denyRead/2", "denyModify/1", "denyModify/2"]
    places += [f"fsProfiles/p/{where}" for where in ("read/1", "read/2", "modify/0", "more")]
    wanted = sorted(f"/spec/{where}" for where in places)
    expect("pointers of the problems", sorted(reported), wanted, {"answer": answer.raw})


@requires("POLICY-FILE-06")
def test_each_problem_of_each_refused_file_has_a_message(case: PolicyCase) -> None:
    refused = [each for each in every().values() if each.kind == "load" and each.small]
    silent = []
    for vector in refused:
        if vector.capabilities <= case.capabilities and not vector.fields["loads"]:
            answer = case.policy.load(policy_in(vector.fields))
            problems = () if answer.ok else answer.error.get("problems", ())
            if not all(each["message"].strip() for each in problems):
                silent.append(vector.id)
    expect("vectors with a problem that has no message", silent, [])


# Plain scalars that are not strings in the core schema of YAML 1.2.2 (section 10.3.2).
NO_STRING = re.compile(
    r"~|null|Null|NULL|true|True|TRUE|false|False|FALSE"
    r"|[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"
    r"|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
    r"|[-+]?(\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN"
)


def plain_scalars() -> list[str]:
    """Return short scalars of all letters that occur in numbers, and longer ones made of parts of
    numbers."""
    short = [
        "".join(each) for n in (1, 2, 3) for each in itertools.product("018xoe.+-F_", repeat=n)
    ]
    wholes = [
        "",
        "0",
        "12",
        "0x",
        "0o",
        "0x1f",
        "0o17",
        "0b1",
        "1_0",
        "1.",
        ".5",
        "1.5",
        ".",
        "1.5.2",
    ]
    exponents = ["", "e", "e5", "E5", "e-5", "e+5", "e+", "e5x", "e5.", "e5e5", "ee5", "e--5", "g"]
    parts = itertools.product(("", "-", "+", "--", "+-"), wholes, exponents)
    words = [
        "null",
        "true",
        "False",
        "TRUE",
        "~",
        "nuLL",
        "tRUE",
        ".inf",
        ".Inf",
        ".iNF",
        ".nan",
        ".NAN",
    ]
    signed = itertools.product(("", "-", "+", "~", "."), words, ("", "0", ".", "e5"))
    made = dict.fromkeys([*short, *map("".join, parts), *map("".join, signed)])
    return [each for each in made if each not in ("", "-", "---", "...")]


@requires("POLICY-FILE-16", capability="policy.yaml")
def test_a_plain_scalar_is_a_string_where_the_core_schema_says_so(case: PolicyCase) -> None:
    scalars = plain_scalars()
    labels = "".join(f"\n    k{at}: {each}" for at, each in enumerate(scalars))
    text = f"schemaVersion: 2\nkind: Policy\nmetadata:\n  name: n\n  labels:{labels}\nspec: {{}}\n"
    answer = case.policy.load({"text": text, "format": "yaml"})
    reported = {each.get("pointer") for each in answer.error.get("problems", [])}
    wrong = {
        each: "a string" if pointer in reported else "no string"
        for at, each in enumerate(scalars)
        if ((pointer := f"/metadata/labels/k{at}") in reported) != bool(NO_STRING.fullmatch(each))
    }
    expect("scalars that are read as another type", wrong, {})


@requires("POLICY-FILE-17", capability=("policy", "policy.json"))
def test_json_and_yaml_of_a_policy_are_resolved_alike(case: PolicyCase) -> None:
    styles = {
        "block": yaml.safe_dump(POLICY, allow_unicode=True, sort_keys=False),
        "flow": yaml.safe_dump(POLICY, allow_unicode=True, default_flow_style=True, width=60),
        "JSON read as YAML": TEXT,
        "JSON with tabs read as YAML": json.dumps(POLICY, ensure_ascii=False, indent="\t"),
    }
    for profile in ("p", "yes", None):
        wanted = known.result("policy.resolve", case.policy.resolve(as_json(TEXT), profile).result)
        for style, text in styles.items():
            got = case.policy.resolve({"text": text, "format": "yaml"}, profile).result
            same = known.result("policy.resolve", got)
            expect(f"the lists of {profile}, from YAML in {style} style", same, wanted)


PROBLEMS = ("read/1", "modify/0", "modify/1")


@requires("POLICY-FILE-05", capability="policy.json")
def test_the_problems_of_two_files_are_reported_together(case: PolicyCase) -> None:
    """Load two files with problems.

    Each file has problems of its own, and some problems exist only because of the other file.
    """
    above = {"denyRead": ["k", "/x"], "denyModify": ["s/**", "!s/c"], "unknown": 1}
    below = {
        "denyModify": ["..", "!s/d", "!s/c"],
        "fsProfiles": {"p": {"read": ["**", "k"], "modify": [7, "k"]}},
    }
    files = [json.dumps({**POLICY, "spec": spec}) for spec in (above, below)]
    answer = case.policy.load({**as_json(files[0]), "workspace": as_json(files[1])})
    reported = {(each.get("file"), each["pointer"]) for each in answer.error.get("problems", ())}
    wanted = {
        *(("global", f"/spec/{where}") for where in ("denyRead/1", "unknown")),
        *(("workspace", f"/spec/denyModify/{at}") for at in (0, 1)),
        *(("workspace", f"/spec/fsProfiles/p/{where}") for where in PROBLEMS),
    }
    expect("the problems", sorted(reported), sorted(wanted), {"answer": answer.raw})
