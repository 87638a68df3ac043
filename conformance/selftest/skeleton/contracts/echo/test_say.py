"""ECHO-SAY: what is said comes back."""

from __future__ import annotations

import pytest
from contracts.echo.client import EchoCase

from boxspec.api import expect, requires


@requires("ECHO-SAY-01")
@pytest.mark.parametrize("text", ["a", "", " between blanks ", "é\n"])
def test_what_is_said_comes_back(case: EchoCase, text: str) -> None:
    expect("the text of the answer", case.echo.say(text), text)
