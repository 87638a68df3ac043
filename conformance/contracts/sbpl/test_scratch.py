"""SBPL-SCRATCH: outside the root only directories that every program needs are writable."""

from __future__ import annotations

from pathlib import Path

import pytest

from boxspec.api import requires
from contracts.sbpl import kit as sbpl
from contracts.sbpl.client import SbplCase
from contracts.sbpl.kit import Setup

HOME = {"HOME": "/Users/u"}
PLACES = ["/private/tmp", "/private/var/folders", "/dev"]
AT_HOME = ["/Users/u/Library/Caches", "/Users/u/.orbit"]


def with_below(places: list[str]) -> list[str]:
    return [*places, *(f"{place}/a/b" for place in places)]


@requires("SBPL-SCRATCH-01")
@pytest.mark.parametrize("env", [{}, HOME], ids=["without HOME", "with HOME"])
def test_temporary_places_and_devices_are_writable(case: SbplCase, env: dict[str, str]) -> None:
    text = case.sbpl.compiled(Setup(env=env))
    text.expect("scratch", sbpl.both(with_below(PLACES), ["/usr/local"]))


@requires("SBPL-SCRATCH-02")
def test_caches_are_writable_with_home(case: SbplCase) -> None:
    text = case.sbpl.compiled(Setup(env=HOME))
    text.expect(
        "decisions about scratch directories, with HOME",
        sbpl.both(with_below(AT_HOME), ["/Users/u/Library"]),
    )


@requires("SBPL-SCRATCH-02")
def test_without_home_no_clause_names_the_home_directory(case: SbplCase) -> None:
    text = case.sbpl.compiled(Setup())
    dead = ["/Library/Caches", "/.orbit", "/None/.orbit", "/Library/Caches/x"]
    dead += with_below([f"{Path.home()}/Library/Caches", f"{Path.home()}/.orbit"])
    text.expect(
        "decisions about scratch directories, without HOME",
        sbpl.both(["/dev"], [*dead, *with_below(AT_HOME)]),
    )


OTHERS = [
    "/private/tmpfile",
    "/private/var/folders2",
    "/private/var",
    "/private",
    "/dev2",
    "/devx",
]
OTHERS += ["/", "/usr/bin/x", "/Users", "/Users/u", "/Users/u/x", "/Users/u/.ssh/id"]
OTHERS += ["/Users/u/.orbit2", "/Users/u/.orbi", "/Users/u/Library", "/Users/u/Library/Caches2"]
OTHERS += ["/Users/u/Library/Keychains/x", "/Users/ux", "/private/var/db"]


@requires("SBPL-SCRATCH-03")
def test_no_other_path_outside_the_root_is_writable(case: SbplCase) -> None:
    text = case.sbpl.compiled(Setup(modify=["**"], env=HOME))
    allowed = with_below(PLACES + AT_HOME)
    text.expect("decisions outside the root", sbpl.both(allowed, OTHERS), sbpl.WRITES)


BELOW = {
    "temporary files": ("/private/tmp/ws", {}),
    "temporary folders": ("/private/var/folders/ab/T/ws", {}),
    "devices": ("/dev/ws", {}),
    "caches": ("/Users/u/Library/Caches/ws", HOME),
    ".orbit": ("/Users/u/.orbit/ws", HOME),
    ".codex": ("/Users/u/.codex/ws", HOME),
    ".claude": ("/Users/u/.claude/ws", HOME),
    ".gemini": ("/Users/u/.gemini/ws", HOME),
    "CODEX_HOME": ("/opt/codex/ws", {"CODEX_HOME": "/opt/codex"}),
    "CLAUDE_CONFIG_DIR": ("/opt/claude/ws", {"CLAUDE_CONFIG_DIR": "/opt/claude"}),
    "the scratch place itself": ("/private/tmp", {}),
    "the state directory itself": ("/Users/u/.codex", HOME),
}


@requires("SBPL-SCRATCH-04")
@pytest.mark.parametrize("name", BELOW)
def test_a_root_below_scratch_is_not_writable_by_that(case: SbplCase, name: str) -> None:
    root, env = BELOW[name]
    text = case.sbpl.compiled(Setup(modify=["src/**"], deny_modify=["src/k"], root=root, env=env))
    denied = [".", "x", "lib/x", "src/k"]
    text.expect(
        "decisions in a root below a scratch directory",
        sbpl.both(["src", "src/x"], denied),
        sbpl.WRITES,
    )
    nothing = case.sbpl.compiled(Setup(root=root, env=env))
    nothing.expect(
        "decisions in that root without rules",
        dict.fromkeys([*denied, "src/x"], False),
        sbpl.WRITES,
    )
    neighbour = f"{root}-2" if name.endswith("itself") else f"{root}/../x"
    if not name.endswith("itself"):
        text.expect("decisions next to the root", {neighbour.replace("/ws/..", ""): True})
