"""A session makes files in TMPDIR and leaves the files of other programs there unchanged."""

from __future__ import annotations

import itertools
import os
import string
from pathlib import Path
from typing import Any

import pytest

from boxspec.api import expect, requires
from contracts.backend.client import BackendCase
from contracts.backend.ground import Ground, made_ground
from contracts.backend.uses import PATH
from contracts.shared.requests import ExecRequest

VARIABLES = ("TMPDIR", "XDG_RUNTIME_DIR")
WAITS: ExecRequest = {"program": "/bin/sh", "args": ["-c", ": <gate && : <held"]}
# Names of files that other programs keep there.
USUAL = ("tmp.0123456789", ".X11-unix", "sandbox", "session", "notes.txt", "build", "scratch")


class Neighbours:
    """Directories that a session must leave unchanged. Each contains a file."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.made: list[Path] = []

    def add(self, name: str) -> None:
        path = self.place / name
        if not path.exists():
            path.mkdir()
            (path / "file").write_text(name)
            self.made.append(path)

    def changed(self) -> list[str]:
        """Return the names of directories whose file is missing or has another content."""
        files = [(path.name, path / "file") for path in self.made]
        return [name for name, file in files if not file.exists() or file.read_text() != name]


def _names_of_a_session(case: BackendCase, ground: Ground, others: Neighbours) -> list[str]:
    """Run a session, and return the names that it makes.

    While its program runs, make a directory of another program.
    """
    gates = [ground.ws / name for name in ("gate", "held")]
    with case.backend.start(
        [WAITS],
        root=ground.ws,
        profile="repo-write",
        on_unavailable="degrade",
        shim_env={
            "HOME": str(ground.home),
            "PATH": PATH,
            **dict.fromkeys(VARIABLES, str(others.place)),
        },
    ) as shim:
        case.open_gate(gates[0])
        own = {path.name for path in others.made}
        names = [name for name in os.listdir(others.place) if name not in own]
        others.add(f"meanwhile-{len(others.made)}")
        case.open_gate(gates[1])
        session = shim.finish()
    session.need_enforcement()
    expect("exit code of the program", session.only.result["exit_code"], 0)
    return names


def _similar(names: list[str]) -> list[str]:
    """Return names that differ from these in their common beginning, or in the length.

    A session may remove directories of an earlier session, which it recognises by this beginning.
    """
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(*names, strict=False))
    common = "".join(pair[0] for pair in same)
    # The random part of two names may begin with the same letters.
    fixed = common.rstrip(string.ascii_letters + string.digits) or common
    rest = names[0][len(fixed) :]
    found = [names[0] + "x", names[0][:-1], fixed[:-1] + rest, rest]
    for at, letter in enumerate(fixed):
        lower, higher = ("+", "z") if letter != "z" else ("+", "~")
        found += [f"{fixed[:at]}{each}{fixed[at + 1 :]}{rest}" for each in (lower, higher)]
    return [name for name in found if not name.startswith(fixed) or len(name) != len(names[0])]


# Fields with which a backend may claim less, so that it leaves the probe early, or is refused.
LESS: dict[str, dict[str, Any]] = {
    "egress": {"profile": "repo-write", "egress": ["127.0.0.1:1"]},
    "hermetic": {"profile": "ci-only"},
    "read-only": {"profile": "read-only"},
}


@requires("BACKEND-LIFE-11")
@pytest.mark.parametrize("what", LESS)
def test_no_temporary_file_is_left_whatever_is_claimed(case: BackendCase, what: str) -> None:
    with made_ground() as ground:
        place = ground.folder / "temporary"
        place.mkdir()
        env = {"HOME": str(ground.home), **dict.fromkeys(VARIABLES, str(place))}
        case.backend.probe(**LESS[what], shim_env=env)
        case.backend.run(
            [{"program": "/bin/true"}],
            root=ground.ws,
            on_unavailable="refuse",
            shim_env=env,
            **LESS[what],
        )
        expect("files left in TMPDIR", [path.name for path in place.iterdir()], [])


@requires("BACKEND-LIFE-12", needs=["BACKEND-LIFE-11"])
def test_directories_of_others_stay(case: BackendCase) -> None:
    with made_ground() as ground:
        place = ground.folder / "temporary"
        place.mkdir()
        for name in ("gate", "held"):
            os.mkfifo(ground.ws / name)
        others = Neighbours(place)
        for name in USUAL:
            others.add(name)
        first, second = (_names_of_a_session(case, ground, others) for _ in range(2))
        for pair in zip(sorted(first), sorted(second), strict=False):
            for name in _similar([*pair]):
                others.add(name)
        _names_of_a_session(case, ground, others)
        case.backend.probe("repo-write", shim_env=dict.fromkeys(VARIABLES, str(place)))
        expect("directories of others that a session has changed", others.changed(), [])
