"""POLICY-PATH: the normal form of a path, and refused paths."""

from __future__ import annotations

import random
import string

import pytest

from boxspec.api import expect, law, requires
from contracts.policy.api import Group, expect_normal_forms, judge, vectors
from contracts.policy.client import PolicyCase


@vectors("POLICY-PATH")
def test_the_vectors_are_answered(case: PolicyCase, group: Group) -> None:
    judge(case, group)


# Some libraries remove these characters, or treat them as a blank or a line end: a byte order mark,
# invisible characters, the blanks of Unicode and of C.
DROPPED = [0xFEFF, 0x200B, 0x200E, 0x00AD, 0x2060, 0x00A0, 0x3000, 0x2028, 0x85]
DROPPED += [0x0A, 0x0B, 0x0C, 0x0D, 0x1C, 0x7F]


@requires("POLICY-PATH-04")
@pytest.mark.parametrize("sent", ["as text", "as bytes"])
def test_invisible_characters_are_kept_at_both_ends(case: PolicyCase, sent: str) -> None:
    marks = [chr(each).encode() for each in DROPPED]
    paths = [
        path for mark in marks for path in (mark, mark + b"a", b"a" + mark, b"a/" + mark + b"b")
    ]
    # If one path of a request is not UTF-8, the kit sends all paths of the request as bytes.
    extra = [b"\xff"] if sent == "as bytes" else []
    wanted = [*(path.decode() for path in paths), *(None for _ in extra)]
    expect(
        "normal forms, which equal the given paths", case.policy.normalize([*paths, *extra]), wanted
    )


# Names with a meaning on Windows only: devices, streams, and names that lose their end.
WINDOWS = ["con", "NUL.txt", "a/aux", "a/b:c", "ab:", "a/.. /b", "a/. /b", "a/b./c", "a/.../b"]


@requires("POLICY-PATH-02", "POLICY-PATH-03")
@pytest.mark.parametrize("path", WINDOWS)
def test_a_name_with_a_meaning_on_another_system_is_a_name(case: PolicyCase, path: str) -> None:
    expect("the normal form", case.policy.normalize([path]), [path])


@requires("POLICY-PATH-02")
@pytest.mark.parametrize("rest", ["", "x", "/x"])
def test_each_letter_is_a_drive(case: PolicyCase, rest: str) -> None:
    drives = [f"{letter}:{rest}" for letter in string.ascii_letters]
    others = [f"{letter}:{rest}".rstrip("/") for letter in "19_-\u00e9\u00aa"]
    got = case.policy.normalize([*drives, *others])
    expect("normal forms", got, [*(None for _ in drives), *others])


def refused_again_and_again(case: PolicyCase, path: bytes) -> None:
    """Fail unless the path is refused each time.

    It is sent repeatedly in one request, in later requests, and after another path.
    """
    batches = [[path] * 4, [path], [path, b"a", path, path], [path]]
    got = [case.policy.normalize(batch) for batch in batches]
    wanted = [[None if each == path else "a" for each in batch] for batch in batches]
    expect(f"the normal form of {path!r}, each time", got, wanted)


@requires("POLICY-PATH-02")
@pytest.mark.parametrize("path", [b"/a", b"~/a", b"C:a", b".//C:a", b""])
def test_a_path_that_leads_elsewhere_is_refused_each_time(case: PolicyCase, path: bytes) -> None:
    refused_again_and_again(case, path)


@requires("POLICY-PATH-03")
@pytest.mark.parametrize("path", [b"..", b"a/..", b"a/../b"])
def test_two_dots_are_refused_each_time(case: PolicyCase, path: bytes) -> None:
    refused_again_and_again(case, path)


@requires("POLICY-PATH-04")
@pytest.mark.parametrize("path", [b"a\\b", b"\\", b"a\\", b" a", b"a\t", b"./ a"])
def test_a_path_that_would_be_changed_is_refused_each_time(case: PolicyCase, path: bytes) -> None:
    refused_again_and_again(case, path)


WORDS = [
    *(
        b"a",
        b"b",
        b".",
        b"..",
        b"...",
        b"~",
        b"\\",
        b" ",
        b"\t",
        b"\n",
        b"!",
        b":",
        b"*",
        b"C:",
        b"\0",
    ),
    *(b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", "é".encode(), "😀".encode(), "\u202f".encode()),
]
# Half of the pieces are separators and dots, because most mistakes concern these.
SHAPES = [b"/", b"/", b".", b"./", b"a", b"b"]


def batches(chance: random.Random) -> list[bytes]:
    made = []
    for _ in range(41):
        words = [chance.choice(chance.choice((SHAPES, WORDS))) for _ in range(chance.randint(0, 8))]
        made.append(b"".join(words))
    return list(dict.fromkeys(made))


@requires("POLICY-PATH-06")
def test_any_bytes_are_normalised_or_refused_as_the_oracle(case: PolicyCase) -> None:
    law(case, batches, lambda paths: expect_normal_forms(case, paths))


@requires("POLICY-PATH-06")
def test_normalising_is_idempotent_and_leaves_no_segment_to_drop(case: PolicyCase) -> None:
    def holds(paths: list[bytes]) -> None:
        normal = [path for path in case.policy.normalize(paths) if path is not None]
        expect("normal forms, normalised", case.policy.normalize(normal), normal)
        strange = [
            path for path in normal if path != "." and {"", ".", ".."} & set(path.split("/"))
        ]
        expect("normal forms that have `.`, `..` or an empty segment", strange, [])

    law(case, batches, holds)


# With one of these texts in place of a separator, or before or after a path, the kernel still opens
# the same file.
JOINTS = ["/", "//", "/./", "/.//", "///"]
FRONTS = ["", "./", "././", ".//"]
BACKS = ["", "/", "/.", "//", "/./"]


NAMES = ["k", "key", "a..b", ".env", "...", "!x"]


def spellings(chance: random.Random) -> tuple[str, list[str]]:
    """Make a path and other spellings of it."""
    names = chance.choices(NAMES, k=chance.randint(2, 4))
    made = []
    for _ in range(24):
        path = names[0]
        for name in names[1:]:
            path += chance.choice(JOINTS) + name
        made.append(chance.choice(FRONTS) + path + chance.choice(BACKS))
    return "/".join(names), list(dict.fromkeys(made))


@requires("POLICY-PATH-01")
def test_no_spelling_of_a_path_slips_past_a_glob_that_matches_it(case: PolicyCase) -> None:
    def holds(example: tuple[str, list[str]]) -> None:
        path, written = example
        pattern = f"./{path}"
        answers = dict(zip(written, case.policy.match(pattern, written), strict=True))
        past = [spelling for spelling, met in answers.items() if met is False]
        expect(f"spellings of {path!r} that {pattern!r} does not match", past, [])

    law(case, spellings, holds)
