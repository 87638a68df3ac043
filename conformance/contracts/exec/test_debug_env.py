"""EXEC-DEBUG: the text form of an environment, which may be written to a log."""

from __future__ import annotations

import re

import pytest

from boxspec.api import expect, requires
from contracts.exec.client import ExecCase

HERE = "exec.debug"

ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}
STRING = r'"((?:[^"\\]|\\.)*)"'
PAIR = re.compile(rf"\({STRING}, {STRING}\)")
WHOLE = re.compile(rf"ClearAndSet\(\[((?:\({STRING}, {STRING}\)(?:, (?=\())?)*)\]\)")


def unescape(text: str) -> str:
    r"""Replace escapes that several languages write, such as \n, \", \u{e9}, \u00e9 and \x1b."""

    def one(found: re.Match[str]) -> str:
        code = found[1] or found[2] or found[3]
        return chr(int(code, 16)) if code else ESCAPES.get(found[4], found[4])

    return re.sub(r"\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", one, text)


def parsed(text: str) -> object:
    """Return the pairs in this form of an environment, or the text itself if it has another
    form."""
    if not WHOLE.fullmatch(text):
        return text
    return [(unescape(name), unescape(value)) for name, value in PAIR.findall(text)]


def clear_and_set(*pairs: tuple[str, str]) -> dict[str, list[list[str]]]:
    return {"clear_and_set": [list(pair) for pair in pairs]}


@requires("EXEC-DEBUG-09", capability=HERE)
def test_names_and_ordinary_values_are_shown(case: ExecCase) -> None:
    text = case.exec.format_env(clear_and_set(("COLOUR", "blue"), ("WIDTH", "80")))
    missing = [word for word in ("COLOUR", "blue", "WIDTH", "80") if word not in text]
    expect(
        "names and values that are missing in the loggable form", missing, [], evidence={"": text}
    )


@pytest.mark.parametrize("name", ["MY_TOKEN", "db_password", "SSH_KEY", "X_AUTH", "SESSION_ID"])
@requires("EXEC-DEBUG-09", capability=HERE)
def test_a_sensitive_value_is_not_shown(case: ExecCase, name: str) -> None:
    text = case.exec.format_env(clear_and_set((name, "hunter2-hunter2"), ("PLAIN", "blue")))
    got = {word: word in text for word in (name, "hunter2", "[REDACTED]", "blue")}
    wanted = {name: True, "hunter2": False, "[REDACTED]": True, "blue": True}
    expect("which of the values the loggable form shows", got, wanted, evidence={"text": text})


@requires("EXEC-DEBUG-10", capability=HERE)
def test_the_loggable_form_of_an_inherited_environment(case: ExecCase) -> None:
    expect("the loggable form", case.exec.format_env("inherit"), "Inherit")


CASES: dict[str, list[tuple[str, str]]] = {
    "empty": [],
    "one": [("A", "1")],
    "two": [("A", "1"), ("B", "2")],
    "empty_value": [("A", "")],
    "quotes": [("A", 'say "hi"')],
    "backslash": [("A", "C:\\new")],
    "control": [("A", "one\ntwo\tthree\rfour")],
    "looks_like_the_end": [("A", '")])'), ("B", "2")],
    "unicode": [("NAME", "Zürich €")],
}


@pytest.mark.parametrize("how", CASES)
@requires("EXEC-DEBUG-10", capability=HERE)
def test_the_loggable_form_of_clear_and_set(case: ExecCase, how: str) -> None:
    text = case.exec.format_env(clear_and_set(*CASES[how]))
    expect("the pairs in the loggable form", parsed(text), CASES[how], evidence={"text": text})


@requires("EXEC-DEBUG-10", capability=HERE)
def test_the_loggable_form_keeps_a_line_a_line(case: ExecCase) -> None:
    text = case.exec.format_env(clear_and_set(("A", "one\ntwo\x1b[31m")))
    got = ("one" in text and "two" in text, re.findall(r"[\x00-\x1f]", text))
    expect("whether the loggable form has the value, and its control characters", got, (True, []))


@requires("EXEC-DEBUG-10", capability=HERE)
def test_the_loggable_form_of_a_sensitive_pair(case: ExecCase) -> None:
    text = case.exec.format_env(clear_and_set(("A", "1"), ("MY_TOKEN", "hunter2-hunter2")))
    expect("the pairs in the loggable form", parsed(text), [("A", "1"), ("MY_TOKEN", "[REDACTED]")])
