"""BACKEND-LAUNCH-13: a call plants files that the launcher of a later call may execute."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from boxspec.api import HostLacks, Verdict, expect, requires
from boxspec.subject.planted import IN_PATH, PLANTED, write_planted
from contracts.backend.attempt import EVERYWHERE, attempted_inside
from contracts.backend.client import BackendCase
from contracts.backend.ground import Ground, made_ground
from contracts.backend.uses import PATH, shell
from contracts.shared.requests import ExecRequest


def _seed(ground: Ground, names: Iterable[str]) -> Path:
    """Make the files in a directory of the root. A call copies them from there to the places where
    it plants them."""
    seed = ground.ws / "seed"
    for name in names:
        write_planted(seed / name, ground.out / name.replace("/", "-"))
    return seed


def _need_effect() -> None:
    with made_ground() as ground:
        name = "script"
        seed = _seed(ground, [name])
        ground.watch()
        subprocess.run(["/bin/sh", str(seed / name)], check=False, capture_output=True)
        if not ground.changes():
            raise HostLacks("working escape attempts", "a planted script changes nothing outside")


@requires("BACKEND-LAUNCH-13", needs=["BACKEND-WRITE-01"])
@pytest.mark.parametrize("what", PLANTED)
def test_a_planted_file_is_not_executed_outside(case: BackendCase, what: str) -> None:
    _need_effect()
    in_root, in_home = PLANTED[what]
    names = [*in_root, *(f"home/{name}" for name in in_home)]
    with made_ground() as ground:
        seed = _seed(ground, names)
        (ground.ws / "home").mkdir()
        ground.watch()
        program, *args = ground.write_params("o_devices")
        calls: list[ExecRequest] = [
            ExecRequest(program="/bin/cp", args=["-R", f"{seed}/.", str(ground.ws)]),
            ExecRequest(program=program, args=args),
            shell("exit 3"),
            ExecRequest(program=str(ground.ws / "absent"), args=[]),
        ]
        paths = ":".join(str(ground.ws / each) for each in IN_PATH)
        session = case.backend.run(
            calls,
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
            shim_env={"HOME": str(ground.ws / "home"), "PATH": f"{paths}:{PATH}"},
        )
        session.need_enforcement()
        changes = ground.changes()
        if changes:
            session.excuse("fs-write", changes[0])
        expect("what planted files did outside", changes, [], verdict=Verdict.ESCAPED)
        attempted_inside(session, EVERYWHERE, 1)
        planted = all((ground.ws / name).exists() for name in names)
        expect("whether the files are planted", planted, True, verdict=Verdict.UNPROVEN)
