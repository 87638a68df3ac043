"""SBPL-STATE: the directories in which each provider keeps its state."""

from __future__ import annotations

import itertools

import pytest

from boxspec.api import requires
from contracts.sbpl import kit as sbpl
from contracts.sbpl.client import SbplCase
from contracts.sbpl.kit import Setup

HOME = "/Users/u"
# The variable of a provider, its value in these tests, and the directory that is used without the
# variable.
CODEX = ("CODEX_HOME", "/opt/codex", "/Users/u/.codex")
CLAUDE = ("CLAUDE_CONFIG_DIR", "/opt/claude", "/Users/u/.claude")
PROVIDERS = [None, "codex", "claude", "gemini"]


def with_below(*places: str) -> list[str]:
    return [*places, *(f"{place}/a/b" for place in places)]


def writable(case: SbplCase, provider: str | None, env: dict[str, str], yes: list[str]) -> None:
    """Check that the paths are writable, and that the home directory itself is not."""
    text = case.sbpl.compiled(Setup(env=env, provider=provider))
    text.expect(
        f"decisions about state directories, with the provider {provider}",
        sbpl.both(yes, ["/Users/u", "/opt"]),
        sbpl.WRITES,
    )


@requires("SBPL-STATE-01")
@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_state_of_codex_is_writable(case: SbplCase, provider: str | None) -> None:
    variable, place, default = CODEX
    writable(case, provider, {"HOME": HOME}, with_below(default))
    writable(case, provider, {"HOME": HOME, variable: place}, with_below(place))
    writable(case, provider, {variable: place}, with_below(place))


@requires("SBPL-STATE-02")
@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_state_of_claude_is_writable(case: SbplCase, provider: str | None) -> None:
    variable, place, default = CLAUDE
    writable(case, provider, {"HOME": HOME}, with_below(default))
    writable(case, provider, {"HOME": HOME, variable: place}, with_below(place))
    writable(case, provider, {variable: place}, with_below(place))


@requires("SBPL-STATE-03")
@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_state_of_gemini_is_writable(case: SbplCase, provider: str | None) -> None:
    writable(case, provider, {"HOME": HOME}, with_below("/Users/u/.gemini"))


GIVEN = [None, "/opt/codex", "/Users/u/else"]


@requires("SBPL-STATE-04")
@pytest.mark.parametrize("home", [HOME, None], ids=["with HOME", "without HOME"])
@pytest.mark.parametrize(("codex", "claude"), list(itertools.product(GIVEN, GIVEN)))
def test_a_variable_relocates(
    case: SbplCase, home: str | None, codex: str | None, claude: str | None
) -> None:
    claude = claude and f"{claude}-2"
    env = {"HOME": home, "CODEX_HOME": codex, "CLAUDE_CONFIG_DIR": claude}
    given = {name: value for name, value in env.items() if value}
    text = case.sbpl.compiled(Setup(modify=["src/**"], env=given))
    wanted = {
        "/Users/u/.codex/x": home is not None and codex is None,
        "/Users/u/.claude/x": home is not None and claude is None,
        "/opt/codex/x": codex == "/opt/codex",
        "/Users/u/else/x": codex == "/Users/u/else",
        "/opt/codex-2/x": claude == "/opt/codex-2",
        "/Users/u/else-2/x": claude == "/Users/u/else-2",
        "/Users/u/.gemini/x": home is not None,
        "/Users/u/x": False,
    }
    text.expect("decisions about state directories", wanted, sbpl.WRITES)
    text.expect("decisions by a rule of the policy", {"/Users/u/ws/src/x": True})


@requires("SBPL-STATE-05")
@pytest.mark.parametrize("empty", [*itertools.product(["", None], repeat=3)])
def test_an_empty_variable_is_not_set(case: SbplCase, empty: tuple[str | None, ...]) -> None:
    names = ("HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR")
    full = dict(zip(names, (HOME, "/opt/codex", "/opt/claude"), strict=True))
    env = {
        name: full[name] if word is None else word for name, word in zip(names, empty, strict=True)
    }
    text = case.sbpl.compiled(Setup(modify=["src/**"], env=env))
    home, codex, claude = (env[name] != "" for name in names)
    wanted = {
        "/opt/codex/x": codex,
        "/opt/claude/x": claude,
        "/Users/u/.codex/x": home and not codex,
        "/Users/u/.claude/x": home and not claude,
        "/Users/u/.gemini/x": home,
        "/.codex/x": False,
        "/.orbit/x": False,
        "/usr/x": False,
    }
    text.expect("decisions about state directories", wanted, sbpl.WRITES)
    text.expect("decisions by a rule of the policy", {"/Users/u/ws/src/x": True})


TOO_WIDE = {"HOME": "/Users/u", "above HOME": "/Users", "all": "/"}
TOO_WIDE |= {"HOME and a slash": "/Users/u/", "HOME with slashes": "//Users//u", "more": "///"}


@requires("SBPL-STATE-06")
@pytest.mark.parametrize("variable", ["CODEX_HOME", "CLAUDE_CONFIG_DIR"])
@pytest.mark.parametrize("place", TOO_WIDE)
def test_a_variable_never_opens_the_home_directory(
    case: SbplCase, variable: str, place: str
) -> None:
    good = Setup(env={"HOME": HOME, variable: "/Users/u/state"})
    bad = good.but(env={"HOME": HOME, variable: TOO_WIDE[place]})
    sbpl.refuses(case, f"{variable}={TOO_WIDE[place]}", bad, good, variable)
    text = case.sbpl.compiled(good)
    text.expect("home", sbpl.both(["/Users/u/state/x"], ["/Users/u", "/Users/u/x"]), sbpl.WRITES)


@requires("SBPL-STATE-06", capability="sbpl.fold")
@pytest.mark.parametrize("variable", ["CODEX_HOME", "CLAUDE_CONFIG_DIR"])
@pytest.mark.parametrize("place", ["/USERS/U", "/users"])
def test_no_spelling_of_home_is_opened(case: SbplCase, variable: str, place: str) -> None:
    good = Setup(env={"HOME": HOME, variable: "/Users/u/state"}, case="fold")
    bad = good.but(env={"HOME": HOME, variable: place})
    sbpl.refuses(case, f"{variable}={place}", bad, good, variable)


@requires("SBPL-STATE-06", capability="sbpl.fold")
@pytest.mark.parametrize(
    ("home", "place"),
    [
        ("/Users/\u00e9", "/Users/E\u0301"),
        ("/Users/e\u0301", "/users/\u00c9"),
        ("/Users/s", "/Users/\u017f"),
        ("/Users/\u03c3", "/Users/\u03c2"),
    ],
    ids=ascii,
)
def test_no_spelling_of_a_home_outside_ascii_is_opened(
    case: SbplCase, home: str, place: str
) -> None:
    good = Setup(env={"HOME": home, "CODEX_HOME": f"{home}/state"}, case="fold")
    bad = good.but(env={"HOME": home, "CODEX_HOME": place})
    sbpl.refuses(case, f"CODEX_HOME={place!a} and HOME={home!a}", bad, good, "CODEX_HOME")


@requires("SBPL-STATE-06")
@pytest.mark.parametrize("variable", ["CODEX_HOME", "CLAUDE_CONFIG_DIR"])
@pytest.mark.parametrize("home", ["/Users/u/", "//Users/u"])
def test_home_is_not_writable_however_it_is_written(
    case: SbplCase, variable: str, home: str
) -> None:
    good = Setup(env={"HOME": home, variable: "/Users/u/state"})
    bad = good.but(env={"HOME": home, variable: "/Users/u"})
    sbpl.refuses(case, f"HOME={home} and {variable}=/Users/u", bad, good, variable)


@requires("SBPL-STATE-06")
@pytest.mark.parametrize("variable", ["CODEX_HOME", "CLAUDE_CONFIG_DIR"])
def test_without_home_a_variable_does_not_open_everything(case: SbplCase, variable: str) -> None:
    bad, good = Setup(env={variable: "/"}), Setup(env={variable: "/opt"})
    sbpl.refuses(case, f"{variable}=/", bad, good, variable)


@requires("SBPL-STATE-06")
def test_a_variable_that_only_begins_like_home_is_no_home(case: SbplCase) -> None:
    for place in ("/Users/u2", "/Users/u/.codex", "/Use", "/Users/U", "/users"):
        text = case.sbpl.compiled(Setup(env={"HOME": HOME, "CODEX_HOME": place}))
        text.expect(
            "decisions about the directory of the variable, and about HOME",
            sbpl.both([f"{place}/x"], ["/Users/u/x"]),
            sbpl.WRITES,
        )


@requires("SBPL-STATE-01")
@pytest.mark.parametrize("provider", PROVIDERS)
def test_two_variables_may_name_one_directory(case: SbplCase, provider: str | None) -> None:
    for codex, claude in (("/opt/s", "/opt/s"), ("/opt/s", "/opt/s/t"), ("/opt/s/t", "/opt/s")):
        env = {"HOME": HOME, "CODEX_HOME": codex, "CLAUDE_CONFIG_DIR": claude}
        writable(case, provider, env, with_below(codex, claude))
