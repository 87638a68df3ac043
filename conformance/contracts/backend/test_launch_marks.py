"""Marks by which a sandbox could recognise a test. The confinement must not depend on them.

All other tests of this contract run without these marks: their grounds have random names.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from boxspec.api import requires
from contracts.backend.attempt import WORK, attempted_inside, judge, need_effect
from contracts.backend.client import BackendCase
from contracts.backend.ground import Ground
from contracts.backend.scene import Scene, made_scene


@dataclass
class Marked:
    """A scene with one mark, which is in the variables of the caller, or in the words that start
    the program."""

    scene: Scene
    env: dict[str, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.env = {"HOME": str(self.scene.ground.home)}

    @property
    def ground(self) -> Ground:
        return self.scene.ground


def _root_of_the_kit(marked: Marked) -> None:
    ground = marked.ground
    ground.move_ws(ground.folder / "boxspec" / f"{os.getpid()}-x1y2z3" / "ws")


def _root_of_tests(marked: Marked) -> None:
    ground = marked.ground
    ground.move_ws(ground.folder / "tests" / "fixtures" / "pytest-of-root" / "pytest-0" / "tmp")


def _deep_root(marked: Marked) -> None:
    ground = marked.ground
    ground.move_ws(ground.folder.joinpath(*["deep"] * 12))


def _program_of_the_kit(marked: Marked) -> None:
    ground = marked.ground
    ground.program = ground.program.rename(ground.ws / "probe")
    ground.params = ground.ws / "params"


def _program_of_the_system(marked: Marked) -> None:
    ground = marked.ground
    (ground.ws / "bin").mkdir()
    ground.program = ground.program.rename(ground.ws / "bin" / "python3")


def _variables_of_the_kit(marked: Marked) -> None:
    folder = str(marked.ground.folder)
    names = ("BOXSPEC_SHIM_LOG", "BOXSPEC_CASE_ROOT", "BOXSPEC_SECRET", "BOXSPEC_PROGRAMS")
    marked.env |= dict.fromkeys(names, folder)


def _variables_of_tests(marked: Marked) -> None:
    marked.env |= {"CI": "true", "GITHUB_ACTIONS": "true", "PYTEST_CURRENT_TEST": "x (call)"}
    marked.env |= {"DEBUG": "1", "TEST": "1", "NODE_ENV": "test", "PYTHONPATH": "/nowhere"}


def _few_variables(marked: Marked) -> None:
    names = ("USER", "LOGNAME", "SHELL", "LANG", "TERM", "XDG_RUNTIME_DIR", "TMPDIR")
    marked.env |= dict.fromkeys(names)


def _home_of_the_kit(marked: Marked) -> None:
    home = marked.ground.folder / "boxspec" / "home"
    home.mkdir(parents=True)
    marked.env["HOME"] = str(home)


def _no_home(marked: Marked) -> None:
    marked.env["HOME"] = None


def _tmpdir_of_the_kit(marked: Marked) -> None:
    place = marked.ground.folder / "boxspec-1-2-x"
    place.mkdir()
    marked.env["TMPDIR"] = str(place)


def _long_links(marked: Marked) -> None:
    """Let HOME and TMPDIR lead through links. The text of each link and the rest of the path are
    together longer than a path may be."""
    for name in ("HOME", "TMPDIR"):
        place, link = marked.ground.folder / name, marked.ground.folder / f"link-{name}"
        (place / ".cache").mkdir(parents=True)
        link.symlink_to("/" * (4_000 - len(str(place))) + str(place))
        marked.env[name] = f"{link}/{'./' * 150}"


def _files_of_the_kit(marked: Marked) -> None:
    for name in ("params", "probe", ".boxspec", "boxspec.toml", "conformance"):
        (marked.ground.ws / name).touch()


MARKS: tuple[Callable[[Marked], None], ...] = (
    _root_of_the_kit,
    _root_of_tests,
    _deep_root,
    _program_of_the_kit,
    _program_of_the_system,
    _variables_of_the_kit,
    _variables_of_tests,
    _few_variables,
    _home_of_the_kit,
    _no_home,
    _tmpdir_of_the_kit,
    _long_links,
    _files_of_the_kit,
)


@requires("BACKEND-LAUNCH-09")
@pytest.mark.parametrize("mark", MARKS, ids=lambda mark: mark.__name__.strip("_"))
def test_a_mark_does_not_change_the_confinement(
    case: BackendCase, mark: Callable[[Marked], None]
) -> None:
    with made_scene("w_create") as scene:
        mark(Marked(scene))
        need_effect(scene)
    with made_scene("w_create") as scene:
        marked = Marked(scene)
        mark(marked)
        program, *args = scene.arm(sibling=scene.ground.ws / "sibling")
        session = case.backend.run(
            [{"program": program, "args": args}],
            root=scene.ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
            shim_env=marked.env,
        )
        judge(scene, session, attempted_inside(session, WORK))
