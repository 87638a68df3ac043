"""ECHO-SAY: the answer repeats the text."""

from __future__ import annotations

import pytest
from contracts.echo.client import EchoCase

from boxspec.api import expect, requires


@requires("ECHO-SAY-01")
@pytest.mark.parametrize("text", ["a", "", " between blanks ", "é\n"])
def test_the_answer_repeats_the_text(case: EchoCase, text: str) -> None:
    expect("the text of the answer", case.echo.say(text), text)
