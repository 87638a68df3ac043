"""The schemas of sbpl.compile and sbpl.wrap: real answers pass, bad ones are refused."""

from __future__ import annotations

from typing import Any

import pytest

from boxspec.subject.client import shape
from selftest.contracts.policy.policy_files import POLICY
from selftest.contracts.shared.wrong_messages import ABSENT, changed, wrong
from selftest.tools import Asked, op_schema

COMPILE = {
    "op": "sbpl.compile",
    "rules": {"read": ["**"], "modify": ["src/**"], "denyRead": ["**/*.env"]},
    "root": "/Users/u/ws",
    "env": {"HOME": "/Users/u", "CODEX_HOME": ""},
    "side_roots": ["/opt/side"],
    "provider": "codex",
}
BYTES = {
    "op": "sbpl.compile",
    "rules": {},
    "root_b64": "L29wdC/DqQ==",
    "env_b64": {"HOME": "L29wdA=="},
    "side_roots_b64": ["L29wdC9z"],
}
WRAP = {"op": "sbpl.wrap", "argv": ["x"], "file": "/p.sb", "wrapper": "present"}
REQUESTS: dict[str, dict[str, Any]] = {
    "compile": COMPILE,
    "compile, folded": {**COMPILE, "case": "fold"},
    "compile of bytes": BYTES,
    "compile of a policy": {"op": "sbpl.compile", "policy": POLICY, "root": "/opt/ws"},
    "compile of a profile": {
        "op": "sbpl.compile",
        "policy": POLICY,
        "profile": "p",
        "root": "/opt/ws",
    },
    "bad root": {**COMPILE, "root": "ws"},
    "wrap": WRAP,
    "wrap of bytes": {**WRAP, "argv_b64": ["eA==", "/w=="]},
    "wrap for codex": {**WRAP, "provider": "codex", "allow_fallback": False},
    "fallback": {**WRAP, "wrapper": "missing", "allow_fallback": True},
    "bad file": {**WRAP, "file": "p.sb"},
}
del REQUESTS["wrap of bytes"]["argv"]
ANSWERED = Asked(REQUESTS)


@pytest.mark.parametrize("shim", Asked.shims)
@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_and_its_answer_follow_the_schema(shim: str, name: str) -> None:
    answer = ANSWERED.by_the_schema(shim, name)
    assert ("error" if name.startswith("bad") else "result") in answer


GOOD = {
    "sbpl.compile": {"id": "1", "result": {"text": "(version 1)\n", "unguarded": ["**/x"]}},
    "sbpl.wrap": {"id": "1", "result": {"argv": ["x"], "wrapped": True, "warnings": ["w"]}},
}
BAD_ANSWERS: list[tuple[str, str, Any, str]] = [
    ("sbpl.compile", "result/text", ABSENT, "/result: exactly one of text, text_b64; given: []"),
    ("sbpl.compile", "result/text", ["(version 1)"], "/result/text: a string; given: ["),
    ("sbpl.compile", "result/text_b64", "eA==", "/result: exactly one of text, text_b64; "),
    ("sbpl.compile", "result", {"text_b64": "%"}, '/result/text_b64: base64; given: "%"'),
    ("sbpl.compile", "result", {"text_b64": None}, "/result/text_b64: base64; given: null"),
    ("sbpl.compile", "result/unguarded", "**/x", '/result/unguarded: a list; given: "**/x"'),
    ("sbpl.compile", "result/unguarded", [1], "/result/unguarded/0: a string; given: 1"),
    ("sbpl.wrap", "result/argv", ABSENT, "/result: exactly one of argv, argv_b64; given: []"),
    ("sbpl.wrap", "result/argv", "x", '/result/argv: a list; given: "x"'),
    ("sbpl.wrap", "result/argv", [1], "/result/argv/0: a string; given: 1"),
    ("sbpl.wrap", "result/argv_b64", ["eA=="], "/result: exactly one of argv, argv_b64; "),
    ("sbpl.wrap", "result/argv_b64", ["YQ"], '/result/argv_b64/0: base64; given: "YQ"'),
    ("sbpl.wrap", "result/argv_b64", ["YQ==\n"], '/result/argv_b64/0: base64; given: "YQ==\\n"'),
    ("sbpl.wrap", "result/argv_b64", [5], "/result/argv_b64/0: base64; given: 5"),
    ("sbpl.wrap", "result/wrapped", 1, "/result/wrapped: true or false; given: 1"),
    ("sbpl.wrap", "result/wrapped", ABSENT, "/result/wrapped: is missing; wanted: true or false"),
    ("sbpl.wrap", "result/warnings", ABSENT, "/result/warnings: is missing; wanted: a list"),
    ("sbpl.wrap", "result/warnings", [None], "/result/warnings/0: a string; given: null"),
]


@pytest.mark.parametrize("op", GOOD)
def test_the_messages_before_modification_are_valid(op: str) -> None:
    shape.check({"id": "1", "op": op}, GOOD[op], frozenset())


@pytest.mark.parametrize(
    ("op", "pointer", "value", "words"),
    BAD_ANSWERS,
    ids=[f"{op} {at} {v!r:.16}" for op, at, v, _ in BAD_ANSWERS],
)
def test_a_bad_answer_is_refused_and_the_place_is_named(
    op: str, pointer: str, value: Any, words: str
) -> None:
    said = wrong({"id": "1", "op": op}, changed(GOOD[op], pointer, value))
    assert said.startswith(words)


FILE = {"id": "1", "op": "sbpl.wrap", "argv": ["x"], "text": "", "dir": "/tmp"}
ASKED = {"id": "1", **COMPILE}
BAD_REQUESTS: dict[str, tuple[dict[str, Any], str, Any]] = {
    "no rules": (ASKED, "rules", ABSENT),
    "rules and a policy": (ASKED, "policy", POLICY),
    "rules and a profile": (ASKED, "profile", "p"),
    "an unknown list": (ASKED, "rules/write", []),
    "no root": (ASKED, "root", ABSENT),
    "root and its base64 field": (ASKED, "root_b64", "Lw=="),
    "an unknown variable": (ASKED, "env/PATH", "/bin"),
    "env and its base64 field": (ASKED, "env_b64", {}),
    "an unknown provider": (ASKED, "provider", "other"),
    "an unknown case": (ASKED, "case", "lower"),
    "an unknown field": (ASKED, "strict", True),
    "no argv": (FILE, "argv", ABSENT),
    "a text without directory": (FILE, "dir", ABSENT),
    "a directory without text": (FILE, "text", ABSENT),
    "a text and a file": (FILE, "file", "/p.sb"),
    "an unknown wrapper": (FILE, "wrapper", "look"),
    "a number as fallback": (FILE, "allow_fallback", 1),
}


@pytest.mark.parametrize("name", BAD_REQUESTS)
def test_a_bad_request_is_refused(name: str) -> None:
    message, pointer, value = BAD_REQUESTS[name]
    assert op_schema(message["op"], "request").is_valid(message)
    assert not op_schema(message["op"], "request").is_valid(changed(message, pointer, value))
