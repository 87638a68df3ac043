"""What must work inside: a sandbox that refuses everything is none that anybody can use."""

import pytest

from boxspec.api import Box, Verdict, expect, requires
from contracts.backend.attempt import control, inside
from contracts.backend.scene import made_scene

PROFILES = ("read-only", "repo-write", "no-network", "full-dev", "ci-only")
EVERYWHERE = ("o_devices", "o_pipes", "o_children", "o_exec", "o_system")


def _works(box: Box, name: str, profile: str) -> None:
    with made_scene(name) as scene:
        scene.params["program"] = scene.ground.program
        _, said = inside(box, scene, profile)
        expect(scene.probe.tries, str(said), "did", verdict=Verdict.OVERREFUSED)


@requires("BACKEND-ALLOW-01")
def test_the_workspace_is_for_work(box: Box) -> None:
    _works(box, "o_workspace", "repo-write")


@requires("BACKEND-ALLOW-02")
@pytest.mark.parametrize("probe", EVERYWHERE)
@pytest.mark.parametrize("profile", PROFILES)
def test_what_every_program_needs_works(box: Box, probe: str, profile: str) -> None:
    _works(box, probe, profile)


@requires("BACKEND-ALLOW-03")
def test_an_open_network_is_open(box: Box) -> None:
    control("n_tcp4")
    with made_scene("n_tcp4") as scene:
        _, said = inside(box, scene, "repo-write")
        hits = [hit for observer in scene.observers for hit in observer.hits()]
        expect("hits of the listener", len(hits), 1, {"said": str(said)}, Verdict.OVERREFUSED)
