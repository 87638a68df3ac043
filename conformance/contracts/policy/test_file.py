"""POLICY-FILE: what is a policy file, and what is said about one that is none."""

from __future__ import annotations

import json
import random

import yaml

from boxspec.api import Answer, Box, Failure, expect, requires
from contracts.policy.api import Group, judge, vectors


@vectors("POLICY-FILE")
def test_the_vectors_are_answered(box: Box, group: Group) -> None:
    judge(box, group)


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
    """What Python's reader, made strict, says of a text."""

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


def placed(text: str, answer: Answer) -> list[tuple[int, int]]:
    """The places of the problems; each lies in the text, or just behind it."""
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
def test_no_beginning_of_a_file_loads(box: Box) -> None:
    text = json.dumps({**POLICY, "spec": {"denyRead": ["é", "b"], "denyModify": ["b"]}})
    for length in range(len(text)):
        answer = box.policy.load(as_json(text[:length]))
        expect(f"whether the first {length} characters load", answer.ok, False)
        placed(text[:length], answer)
    expect("whether the whole file loads", box.policy.load(as_json(text)).ok, True)


@requires("POLICY-FILE-10")
def test_what_a_strict_reader_refuses_never_loads(box: Box) -> None:
    chance = random.Random(box.session.seed)
    for _ in range(120):
        at = chance.randrange(len(TEXT))
        cut = chance.randint(0, 2)
        new = "".join(chance.choices('{}[]",:\\0e+-.\t\n/*tnu\x01\x7f', k=chance.randint(0, 2)))
        text = TEXT[:at] + new + TEXT[at + cut :]
        answer = box.policy.load(as_json(text))
        if not is_json(text):
            expect(f"whether a file with {new!r} at {at} loads", answer.ok, False)
            placed(text, answer)


@requires("POLICY-FILE-05", capability="policy.json")
def test_problems_come_in_the_order_of_the_file(box: Box) -> None:
    chance = random.Random(box.session.seed)
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
        answer = box.policy.load(as_json(text))
        places = placed(text, answer)
        expect("places of the problems", places, sorted(places), {"answer": answer.raw})
        expect("the same file a second time", box.policy.load(as_json(text)).error, answer.error)


@requires("POLICY-FILE-17", capability=("policy", "policy.json"))
def test_json_and_yaml_of_a_policy_are_resolved_alike(box: Box) -> None:
    styles = {
        "block": yaml.safe_dump(POLICY, allow_unicode=True, sort_keys=False),
        "flow": yaml.safe_dump(POLICY, allow_unicode=True, default_flow_style=True, width=60),
        "JSON read as YAML": TEXT,
    }
    for profile in ("p", "yes", None):
        wanted = box.policy.resolve(as_json(TEXT), profile).result
        for style, text in styles.items():
            got = box.policy.resolve({"text": text, "format": "yaml"}, profile).result
            expect(f"the lists of {profile}, from YAML in {style} style", got, wanted)
