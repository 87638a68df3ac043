"""POLICY-FILE: a version directive of YAML does not change the meaning of a file."""

from __future__ import annotations

import pytest

from boxspec.api import expect, requires
from contracts.policy.client import PolicyCase

DIRECTIVES = ["", "%YAML 1.1\n---\n", "%YAML 1.2\n---\n", "%YAML 1.2 # a comment\n---\n"]
# These are strings in the core schema of YAML 1.2. In YAML 1.1 most of them are booleans or
# numbers.
STRINGS = ["yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF", "y", "n",
           "Y", "N", "1:30", "190:20:30", "1_000", "0b101", "+0b1", "0x_1", "=", "2001-01-01",
           "2001-12-14t21:59:43.10-05:00", "1e", "0o8", "1.5_5", "nul", "tRUE", "190:20:30.15",
           "0xg", "inf", "nan", "NaN", "Infinity", "None", "0x1.8p3", "0X1F", "0O14", "0B1",
           "\u0663", "\uff11", ".nAn", ".Nan", ".iNf", "+.nan", "-.NaN"]  # fmt: skip
OTHERS = ["true", "True", "FALSE", "null", "Null", "12", "012", "0o14", "0x1F", "-7", "+7", "1.5",
          "1e3", ".5", ".inf", "-.INF", ".nan"]  # fmt: skip


def text_of(directive: str, word: str) -> dict[str, str]:
    text = f"""{directive}schemaVersion: 2
kind: Policy
metadata: {{name: t}}
spec:
  fsProfiles:
    p:
      read:
        - {word}
"""
    return {"text": text, "format": "yaml"}


@requires("POLICY-FILE-16", capability="policy.yaml")
@pytest.mark.parametrize("directive", DIRECTIVES, ids=["none", "1.1", "1.2", "comment"])
def test_words_have_one_meaning_under_every_directive(case: PolicyCase, directive: str) -> None:
    for word in STRINGS:
        answer = case.policy.resolve(text_of(directive, word))
        expect(f"the rule {word} under {directive!r}", answer.ok and answer.result["read"], [word])
    for word in OTHERS:
        loaded = case.policy.load(text_of(directive, word))
        loads = loaded.ok or not loaded.error
        expect(f"whether {word} under {directive!r} is a rule", loads, False)


@requires("POLICY-FILE-16", capability="policy.yaml")
@pytest.mark.parametrize("directive", DIRECTIVES, ids=["none", "1.1", "1.2", "comment"])
def test_keys_have_one_meaning_under_every_directive(case: PolicyCase, directive: str) -> None:
    def loads(word: str) -> bool:
        text = text_of(directive, "x")["text"].replace("    p:", f"    {word}:")
        answer = case.policy.load({"text": text, "format": "yaml"})
        return answer.ok or not answer.error

    for word in STRINGS:
        if word != "=":
            expect(f"whether {word} under {directive!r} is a name", loads(word), True)
    for word in OTHERS:
        expect(f"whether {word} under {directive!r} is a name", loads(word), False)
