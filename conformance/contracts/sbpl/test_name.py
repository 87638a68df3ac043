"""SBPL-NAME: a path is data. So no name may be read as a form."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest

from boxspec.api import Blocked, Failure, expect, requires
from contracts.sbpl import kit as sbpl
from contracts.sbpl.client import SbplCase
from contracts.sbpl.kit import Setup
from contracts.sbpl.text import Text

BASE = Setup(modify=["src/**"], env={"HOME": "/Users/u"}, provider="codex")


def with_name(place: str, name: str) -> Setup:
    """Return a setup with the name in one of the places from which strings of the text are made."""
    if place == "root":
        return BASE.but(root=f"/Users/u/{name}/ws", modify=["src/**", "**/*.c", "lib"])
    if place == "rule":
        rule = sbpl.in_a_rule(name)
        return BASE.but(modify=[f"{rule}/**"], deny_read=[f"d/{rule}/x"])
    if place == "glob":
        return BASE.but(modify=[f"**/{sbpl.in_a_rule(name)}*"])
    if place in ("side root", UNUSED):
        provider = "codex" if place == "side root" else "claude"
        return BASE.but(side_roots=[f"/opt/{name}"], provider=provider)
    if place == "HOME":
        return BASE.but(env={"HOME": f"/Users/{name}"}, root="/opt/ws")
    return BASE.but(env={place: f"/opt/{name}"})


# Only codex has clauses of side roots. Those of another provider are paths of the request too.
UNUSED = "side root of claude"
PLACES = ["root", "rule", "glob", "side root", "HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"]


AT_HOME = ("Library/Caches", ".orbit", ".codex", ".claude", ".gemini")


def at_home(case: SbplCase, place: str) -> str:
    """If the place is HOME, return a writable directory below HOME, else an empty text.

    The topics SCRATCH and STATE test which directories are writable.
    """
    if place != "HOME":
        return ""
    text = case.sbpl.compiled(BASE.but(root="/opt/ws"))
    found = [name for name in AT_HOME if text.allows("file-write-data", f"/Users/u/{name}/x")]
    if not found:
        raise Blocked(["SBPL-SCRATCH-02"], "nothing below HOME is writable")
    return found[0]


def expect_only_named_path(text: Text, place: str, name: str, home: str) -> None:
    """Fail unless the named path is writable, and the paths are not that a broken string would
    allow."""
    named = sbpl.in_a_rule(name)
    yes = {
        "root": "src/x",
        "rule": f"{named}/x",
        "glob": f"a/{named}b",
        "side root": f"/opt/{name}/x",
        "HOME": f"/Users/{name}/{home}/x",
    }.get(place, f"/opt/{name}/x")
    no = ["/usr/x", "/", "x", "/opt/x", "/Users/u/x"]
    text.expect(f"decisions about writing, {place} is {name!r}", sbpl.both([yes], no))
    if place == "rule":
        text.expect("decisions about reading", sbpl.both(["d"], [f"d/{named}/x"]), sbpl.READ)


QUOTING = ['a"b', 'a""', "a\\b", "a\\\\b", 'a\\"b', "a\\nb", "a\\x41b", "a\\", '"', "b c", "é😀"]
# Names that readers of settings may interpret: with blanks at the ends, variables, or codes of
# characters.
QUOTING += ["a ", " a", "a\u00a0", "a.", "$HOME", "${HOME}", "%41", "a#b", "a;b"]
# Characters of private use, noncharacters and a code point that no version of Unicode has assigned.
QUOTING += ["a\ue000b", "\uffff\U0010ffff", "a\u0378"]


@requires("SBPL-NAME-01")
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", QUOTING)
def test_a_string_reads_back_as_it_was_given(case: SbplCase, place: str, name: str) -> None:
    home = at_home(case, place)
    try:
        expect_only_named_path(case.sbpl.compiled(with_name(place, name)), place, name, home)
    except Blocked as why:
        # If the text with a harmless name is undecidable too, the name is not to blame.
        harmless = case.sbpl.compiled(with_name(place, sbpl.HARMLESS))
        expect_only_named_path(harmless, place, sbpl.HARMLESS, home)
        raise Failure(f"the string reads back, {place} is {name!r}", name, str(why)) from None


@requires("SBPL-NAME-02")
@pytest.mark.parametrize("place", PLACES)
def test_a_name_built_to_open_a_form_stays_a_name(case: SbplCase, place: str) -> None:
    chance = random.Random(case.session.seed)
    harmless = case.sbpl.compiled(with_name(place, sbpl.HARMLESS))
    home = at_home(case, place)
    expect(
        "lines that match no clause of the page, with a harmless name",
        sbpl.strange(harmless.data),
        [],
        harmless.evidence(),
    )
    for name in sbpl.hostile_names(chance, sbpl.times(40)):
        text = case.sbpl.compiled(with_name(place, name))
        expect(
            f"lines that match no clause of the page, {place} is {name!r}",
            sbpl.strange(text.data),
            [],
            text.evidence(),
        )
        plain = sbpl.in_a_rule(name) if place in ("rule", "glob") else name
        sbpl.same_shape(f"{place} is {name!r}", text, plain, harmless)
        expect_only_named_path(text, place, name, home)


# A composed name, a decomposed name, and a letter that normalisation replaces by another one.
SPELLED = {"composed": "caf\u00e9", "decomposed": "cafe\u0301", "replaced": "\u212b"}


@requires("SBPL-NAME-01")
@pytest.mark.parametrize("spelled", SPELLED)
def test_a_name_keeps_its_spelling(case: SbplCase, spelled: str) -> None:
    """Compile a name that has other spellings. The text must not match these, except with `case:
    fold`."""
    name = SPELLED[spelled]
    given = Setup(
        root=f"/Users/u/{name}/ws",
        modify=[f"{name}/**", f"{name}.c"],
        env={"HOME": f"/Users/{name}"},
        side_roots=[f"/opt/{name}"],
        provider="codex",
    )
    text = case.sbpl.compiled(given).data
    forms = {unicodedata.normalize(form, name) for form in ("NFC", "NFD")} - {name}
    expect("whether the text has the name as it was given", name.encode() in text, True)
    expect(
        "other Unicode forms of the name in the text",
        [each for each in forms if each.encode() in text],
        [],
    )


CONTROLS = ["\n", "\r", "\t", "\x01", "\x1b", "\x1f", "\x7f"]
# For each place, the names that a message may use for it.
NAMED = {
    "root": ("root",),
    "rule": ("modify", "denyRead"),
    "glob": ("modify",),
    "side root": ("side_roots", "side root"),
    "HOME": ("HOME",),
    "CODEX_HOME": ("CODEX_HOME",),
    "CLAUDE_CONFIG_DIR": ("CLAUDE_CONFIG_DIR",),
    UNUSED: ("side_roots", "side root"),
}


@requires("SBPL-NAME-03")
@pytest.mark.parametrize("place", [*PLACES, UNUSED])
@pytest.mark.parametrize("control", CONTROLS, ids=[f"{ord(each):#04x}" for each in CONTROLS])
def test_a_control_character_is_refused_and_named(case: SbplCase, place: str, control: str) -> None:
    bad, good = with_name(place, f"a{control}b"), with_name(place, "a b")
    sbpl.refuses(case, f"{control!r} in {place}", bad, good, *NAMED[place])


# A setup for each list. The list also contains rules that need no clause.
LISTS = {
    "modify": Setup(modify=["a{}b"]),
    "an exclusion": Setup(modify=["**", "!a{}b"]),
    "denyModify": Setup(modify=["**"], deny_modify=["a{}b"]),
    "denyRead": Setup(deny_read=["a{}b"]),
    "read, after a deny": Setup(read=["**", "!k", "a{}b"]),
    "read, that allows as ever": Setup(read=["a{}b", "**"]),
    "read, a glob that allows as ever": Setup(read=["a{}b*", "**"]),
}


@requires("SBPL-NAME-03")
@pytest.mark.parametrize("where", LISTS)
def test_a_control_character_is_refused_in_each_list(case: SbplCase, where: str) -> None:
    def given(letter: str) -> Setup:
        lists = ("read", "modify", "deny_read", "deny_modify")
        made: dict[str, Any] = {name: getattr(LISTS[where], name) for name in lists}
        for name, rules in made.items():
            made[name] = [each.format(letter) for each in rules]
        return Setup(**made)

    sbpl.refuses(case, f"a control character in {where}", given("\x01"), given("x"))


LIMIT = 1000


def long_root(written: int, letter: str = "a") -> str:
    """Return a path that has this number of bytes between the quotes of its string."""
    each = len(letter.encode()) + (letter in '"\\')
    rest = written - 1
    return "/" + letter * (rest // each) + "a" * (rest % each)


@requires("SBPL-NAME-04")
@pytest.mark.parametrize("letter", ["a", '"', "\\", "é"], ids=["a", "quote", "backslash", "é"])
def test_a_string_has_a_thousand_bytes_at_most(case: SbplCase, letter: str) -> None:
    root = long_root(LIMIT, letter)
    bad, good = Setup(root=long_root(LIMIT + 1, letter)), Setup(root=root)
    sbpl.refuses(case, f"a root of {LIMIT + 1} bytes as written", bad, good)
    text = case.sbpl.compiled(Setup(root=root, modify=["**"]))
    text.expect("decisions below a root of the maximum length", sbpl.both([".", "x"], [root[:-1]]))


@requires("SBPL-NAME-04")
@pytest.mark.parametrize("place", ["rule", "deny", "side root", "HOME", "CODEX_HOME"])
def test_each_string_has_the_limit(case: SbplCase, place: str) -> None:
    def setup(size: int) -> Setup:
        path = long_root(size)
        return {
            "rule": BASE.but(modify=[path[len(sbpl.ROOT) + 1 :]]),
            "deny": BASE.but(deny_read=[path[len(sbpl.ROOT) + 1 :]]),
            "side root": BASE.but(side_roots=[path]),
            "HOME": BASE.but(env={"HOME": path[: -len("/Library/Caches")]}),
            "CODEX_HOME": BASE.but(env={"CODEX_HOME": path}),
        }[place]

    sbpl.refuses(case, f"{LIMIT + 1} bytes in {place}", setup(LIMIT + 1), setup(LIMIT))


@requires("SBPL-NAME-04")
@pytest.mark.parametrize("place", ["rule", "deny"])
def test_a_pattern_has_the_limit_to_the_byte(case: SbplCase, place: str) -> None:
    def given(glob: str) -> Setup:
        if place == "rule":
            return BASE.but(modify=[glob])
        return BASE.but(modify=["**"], deny_modify=[glob])

    judge_the_limit(case, place, given)


@requires("SBPL-NAME-04", capability="sbpl.fold")
def test_a_folded_pattern_has_the_limit_to_the_byte(case: SbplCase) -> None:
    def folded(glob: str) -> Setup:
        return BASE.but(modify=["**"], deny_modify=[glob], case="fold")

    judge_the_limit(case, "folded deny", folded)


def judge_the_limit(case: SbplCase, place: str, given: Callable[[str], Setup]) -> None:
    """Find the longest glob that is accepted, and check that its string has exactly LIMIT bytes.

    The size of an expression depends on the implementation, but one more digit always adds one
    byte.
    """

    def setup(size: int) -> Setup:
        return given(f"**/*.{'0' * size}")

    fits, too_long = 1, LIMIT
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if case.sbpl.compile(setup(middle)).ok:
            fits = middle
        else:
            too_long = middle
    sbpl.refuses(case, f"one byte more in a {place}", setup(too_long), setup(fits))
    written = sbpl.strings(case.sbpl.compiled(setup(fits)).profile.forms)
    expect(
        "length of the longest string between quotes, in bytes",
        max(len(each.inside) for each in written),
        LIMIT,
    )


NO_TEXT = {"a byte alone": b"\xff", "half a letter": b"\xc3", "a surrogate": b"\xed\xa0\x80",
           "too long a form": b"\xc0\xaf"}  # fmt: skip


@requires("SBPL-NAME-05")
@pytest.mark.parametrize("name", NO_TEXT)
def test_a_name_that_is_not_utf8_is_refused(case: SbplCase, name: str) -> None:
    def setups(end: bytes) -> list[Setup]:
        return [
            BASE.but(root=b"/Users/u/" + end),
            BASE.but(side_roots=[b"/opt/" + end]),
            BASE.but(env={"HOME": b"/Users/" + end}),
            BASE.but(env={"CODEX_HOME": b"/opt/" + end}),
        ]

    for bad, good in zip(setups(NO_TEXT[name]), setups("é".encode()), strict=True):
        sbpl.refuses(case, name, bad, good)


SLASHES = ["/Users//u/ws", "/Users/u/ws/", "//Users/u///ws//", "/Users/u/ws///"]


@requires("SBPL-NAME-06")
@pytest.mark.parametrize("path", SLASHES)
def test_doubled_and_trailing_slashes_are_removed(case: SbplCase, path: str) -> None:
    def same(given: Setup, yes: str, no: str) -> None:
        text = case.sbpl.compiled(given)
        text.expect(f"decisions with the path {path}", sbpl.both([yes], [no]))

    setup = BASE.but(env={})
    same(setup.but(root=path), "/Users/u/ws/src/x", "/Users/u/ws/x")
    same(setup.but(root=path, modify=["**/*.c"]), "/Users/u/ws/a/x.c", "/Users/u/ws/x")
    same(setup.but(root="/opt/ws", side_roots=[path]), "/Users/u/ws/x", "/Users/u/x")
    for variable in ("CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        same(setup.but(root="/opt/ws", env={variable: path}), "/Users/u/ws/x", "/Users/u/x")
    same(
        setup.but(root="/opt/ws", env={"HOME": path}),
        f"/Users/u/ws/{at_home(case, 'HOME')}/x",
        "/Users/u/ws/x",
    )


def places(path: str) -> dict[str, Setup]:
    """Return setups with the path in each place that does not come from the policy."""
    return {
        "root": BASE.but(root=path),
        "side root": BASE.but(side_roots=[path]),
        "HOME": BASE.but(env={"HOME": path}),
        "CODEX_HOME": BASE.but(env={"CODEX_HOME": path}),
        "CLAUDE_CONFIG_DIR": BASE.but(env={"CLAUDE_CONFIG_DIR": path}),
        UNUSED: BASE.but(side_roots=[path], provider="claude"),
    }


NOT_CANONICAL = ["ws", "./ws", "~", "~/ws", "~u/ws", "/opt/./ws", "/opt/../ws", "/opt/ws/..",
                 "/opt/ws/.", "../ws", " ", "   ", " /opt/ws", "$HOME/ws", "C:/ws", "\\opt",
                 "file:///opt/ws", "\u00a0/opt/ws", '"/opt/ws"']  # fmt: skip


@requires("SBPL-NAME-07")
@pytest.mark.parametrize("path", NOT_CANONICAL)
def test_a_path_that_is_not_canonical_is_refused(case: SbplCase, path: str) -> None:
    for place, bad in places(path).items():
        sbpl.refuses(case, f"{path} as {place}", bad, places("/opt/ws")[place], *NAMED[place])


@requires("SBPL-NAME-07")
@pytest.mark.parametrize("place", ["root", "side root", UNUSED])
def test_an_empty_path_is_refused(case: SbplCase, place: str) -> None:
    """An empty variable counts as not set, so only the other places are asked."""
    bad, good = places("")[place], places("/opt/ws")[place]
    sbpl.refuses(case, f"an empty path as {place}", bad, good, *NAMED[place])


@requires("SBPL-NAME-07")
def test_names_of_dots_and_blanks_are_names(case: SbplCase) -> None:
    blanks = ("/opt/ws ", "/opt/ ws", "/ ", "/opt/ws\u00a0")
    for path in ("/opt/...", "/opt/..ws", "/opt/ws.", "/opt/.ws", "/opt/~", "/opt/~ws", *blanks):
        text = case.sbpl.compiled(BASE.but(root=path))
        text.expect(f"decisions with the root {path}", sbpl.both(["src/x"], ["x"]))


ALIASES = {
    "/tmp": "/private/tmp",
    "/tmp/ws": "/private/tmp/ws",
    "/var": "/private/var",
    "/var/folders/x": "/private/var/folders/x",
    "/etc": "/private/etc",
    "/etc/ws": "/private/etc/ws",
    "//tmp/ws": "/private/tmp",
    "/tmp//ws": "/private/tmp",
    "/var/": "/private/var",
}


@requires("SBPL-NAME-08")
@pytest.mark.parametrize("path", ALIASES)
def test_an_alias_is_refused_and_the_real_spelling_named(case: SbplCase, path: str) -> None:
    for place, bad in places(path).items():
        good = places("/private/opt/ws")[place]
        sbpl.refuses(case, f"{path} as {place}", bad, good, ALIASES[path])


NO_ALIASES = ["/tmpfiles/ws", "/variable", "/etcetera/x", "/t", "/opt/tmp"]
# The spellings that the refusals advise, and names that only look like an alias.
NO_ALIASES += ["/private/tmp/ws", "/private/var/ws", "/private/etc/ws", "/home/u", "/TMP/ws"]


@requires("SBPL-NAME-08")
@pytest.mark.parametrize("path", NO_ALIASES)
def test_a_path_that_is_no_alias_is_allowed(case: SbplCase, path: str) -> None:
    home = at_home(case, "HOME")
    for place, setup in places(path).items():
        if place == UNUSED:
            case.sbpl.compiled(setup)
            continue
        below = {"root": "/src/x", "HOME": f"/{home}/x"}.get(place, "/x")
        text = case.sbpl.compiled(setup)
        text.expect(f"decisions with {path} as {place}", sbpl.both([path + below], ["/usr/x"]))
