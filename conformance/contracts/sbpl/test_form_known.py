"""SBPL-FORM-04: texts of many kinds have only known forms.

Tests of other requirements cannot decide a text with an unknown form. They leave it to this
requirement, so its own tests have to reach the texts of all other topics.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from boxspec.api import expect, requires
from contracts.sbpl import kit as sbpl
from contracts.sbpl.client import SbplCase
from contracts.sbpl.kit import Setup

# Letters with several spellings: marks, other cases, letters of several bytes, Hangul.
LETTERS = ["a", "é", "Å", "ǆ", "ς", "ΐ", "ḉ", "각", "ſ", "\u212a", "ß", "\U00010428", "\u0345", "ạ̊"]
SPECIAL = (".+()[]", "{}^$|*", "\\\"'-&~ ]", "]^-[", "*?.*?")


def _rules(part: str) -> Setup:
    plain = part.replace("*", "").replace("?", "")
    return Setup(
        read=["**", f"!{part}", f"d/{part}/**"],
        modify=["**", f"!x{part}?y", f"{part}*/**", "**/own"],
        deny_read=[f"d/{part}/*{part}", f"**/{part}"],
        deny_modify=[f"s{plain}/**", f"!s{plain}/c{plain}/**", f"!s{plain}/{plain}"],
    )


def _expect_known(case: SbplCase, given: Setup) -> None:
    data = sbpl.bytes_of(case.sbpl.compile(given))
    expect("lines that match no clause of the page", sbpl.strange(data), [])
    text = case.sbpl.compiled(given)
    unknown = [gap.words for gap in text.gaps() if not gap.dialect]
    expect("forms that are not known", unknown, [], text.evidence())


@requires("SBPL-FORM-04", capability="sbpl.fold")
@pytest.mark.parametrize("letter", LETTERS, ids=ascii)
def test_each_form_is_known_if_letters_fold(case: SbplCase, letter: str) -> None:
    _expect_known(case, replace(_rules(letter), case="fold"))


@requires("SBPL-FORM-04")
@pytest.mark.parametrize("characters", SPECIAL)
def test_each_form_is_known_for_special_characters(case: SbplCase, characters: str) -> None:
    name = f"x{characters}y"
    given = replace(_rules(name), root=f"/Users/u/{name}", env={"HOME": f"/Users/{name}"})
    _expect_known(case, given)


@requires("SBPL-FORM-04", capability="sbpl.fold")
@pytest.mark.parametrize("characters", SPECIAL)
def test_each_form_is_known_if_special_characters_fold(case: SbplCase, characters: str) -> None:
    name = f"x{characters}Y"
    _expect_known(case, replace(_rules(name), root=f"/Users/u/{name}", case="fold"))


@requires("SBPL-FORM-04")
@pytest.mark.parametrize("provider", ["codex", "claude", "gemini", None])
def test_each_form_is_known_for_each_provider(case: SbplCase, provider: str | None) -> None:
    env = {"HOME": "/Users/u", "CODEX_HOME": "/opt/c", "CLAUDE_CONFIG_DIR": "/opt/d"}
    given = replace(_rules("n"), env=env, side_roots=["/srv/a", "/srv/b"], provider=provider)
    _expect_known(case, given)
