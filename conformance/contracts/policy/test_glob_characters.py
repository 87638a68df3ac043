"""POLICY-GLOB: every character. An engine may use one as a mark inside its patterns."""

from __future__ import annotations

import pytest

from boxspec.api import expect, requires
from contracts.policy.api import oracle, readings
from contracts.policy.client import PolicyCase

# All of ASCII except wildcards and separators, and characters that engines use as marks: C1
# controls, blanks, private use, noncharacters, and the last character of each length in UTF-8.
ASCII = [chr(code) for code in range(1, 128) if chr(code) not in "*?/\\"]
OTHERS = [
    *("\u0080", "\u0085", "\u009f", "\u00a0", "\u00ad", "\u00b7", "\u00ff", "\u0300", "\u07ff"),
    *("\u0800", "\u1680", "\u200b", "\u200d", "\u2028", "\u2029", "\u202e", "\u2060", "\u2217"),
    *("\u3000", "\ud7ff", "\ue000", "\uf8ff", "\ufdd0", "\ufe0f", "\ufeff", "\uff0a", "\uff1f"),
    *("\ufffd", "\ufffe", "\uffff", "\U00010000", "\U0001f600", "\U0001fffe", "\U000e0001"),
    *("\U000f0000", "\U0010ffff"),
]
BLOCKS = {
    "controls": [c for c in ASCII if not c.isprintable()],
    "punctuation": [c for c in ASCII if c.isprintable() and not c.isalnum()],
    "letters": [c for c in ASCII if c.isalnum()],
    "others": OTHERS,
}
# `C` stands for the character. In paths, other texts replace it too.
GLOBS = ["aCb", "*C?", "**/xC"]
INSTEAD = ("C", "", "x", "xx", "/", "x/x", "CC", "x/C")


@requires("POLICY-GLOB-01")
@pytest.mark.parametrize("block", BLOCKS)
def test_each_character_of_a_glob_matches_only_itself(case: PolicyCase, block: str) -> None:
    for character in BLOCKS[block]:
        for glob in GLOBS:
            pattern = glob.replace("C", character)
            shapes = [glob.replace("**/", "x/").replace("*", "x").replace("?", "y")]
            shapes.append(glob.replace("**/", "").replace("*", "").replace("?", "y"))
            made = [shape.replace("C", other) for shape in shapes for other in INSTEAD]
            compare(case, pattern, [each.replace("C", character) for each in made])


def compare(case: PolicyCase, pattern: str, candidates: list[str]) -> None:
    paths = [
        path
        for path in dict.fromkeys(candidates)
        if oracle.normal_path(path.encode()) == path and readings.readable(case, pattern, path)
    ]
    if oracle.normal_body(pattern) != pattern or not paths:
        return
    got = dict(zip(paths, case.policy.match(pattern, paths), strict=True))
    wanted = {path: oracle.matches(pattern, path) for path in paths}
    wrong = {path: met for path, met in got.items() if met is not wanted[path]}
    expect(f"paths that {pattern!r} matches wrongly", wrong, {})


@requires("POLICY-GLOB-05")
@pytest.mark.parametrize("glob", ["a?b", "?", "**/?b", "a?", "??"])
def test_a_question_mark_matches_every_character(case: PolicyCase, glob: str) -> None:
    """Match characters that are special in a glob. In a path they are ordinary characters."""
    every = [*ASCII, *OTHERS, "*", "?"]
    paths = {glob.replace("**/", "d/").replace("??", "?k").replace("?", c): c for c in every}
    # The path `.` is left out here, because it is the root.
    asked = [path for path in paths if oracle.normal_path(path.encode()) == path != "."]
    met = case.policy.match(glob, asked)
    wrong = [paths[path] for path, each in zip(asked, met, strict=True) if not each]
    expect(f"characters that the question mark of {glob} does not match", wrong, [])
    longer = [glob.replace("**/", "d/").replace("?", "xy"), glob.replace("?", "/")]
    others = [path for path in longer if oracle.normal_path(path.encode()) == path]
    wanted = [oracle.matches(glob, path) for path in others]
    expect(f"whether {glob} matches {others}", case.policy.match(glob, others), wanted)
