"""SBPL-NAME: names that are similar to those of the system stay as they were given."""

from __future__ import annotations

import pytest

from boxspec.api import requires
from contracts.sbpl import kit as sbpl
from contracts.sbpl.client import SbplCase
from contracts.sbpl.kit import Setup

NEAR = [
    *(
        "/Private/tmp/x",
        "/PRIVATE/var/x",
        "/private/Var/x",
        "/private/private/tmp",
        "/privat/tmp/x",
    ),
    *(
        "/System/Volumes/Data/Users/u",
        "/System/Volumes/Preboot/x",
        "/Volumes/x",
        "/users/u",
        "/USERS/u",
    ),
    *("/Users/U", "/home/u", "/private/tmp2/x", "/opt/private/tmp/x", "/Library/x", "/.vol/1/2"),
]


@requires("SBPL-NAME-01")
@pytest.mark.parametrize("place", NEAR)
def test_a_name_like_one_of_the_system_is_kept(case: SbplCase, place: str) -> None:
    root, side, state = f"{place}/ws", f"{place}/side", f"{place}/state"
    env = {"HOME": f"{place}/home", "CODEX_HOME": state}
    given = Setup(root=root, modify=["src/**"], side_roots=[side], provider="codex", env=env)
    text = case.sbpl.compiled(given.but(deny_read=["key"]))
    yes = ["src", "src/x", side, f"{side}/x", state, f"{state}/x", f"{place}/home/.gemini/x"]
    no = ["x", "key", f"{place}/home", f"{place}/other"]
    text.expect("decisions about writing", sbpl.both(yes, no), sbpl.WRITES)
    text.expect("decisions about reading", sbpl.both(["src", side], ["key"]), sbpl.READS)
