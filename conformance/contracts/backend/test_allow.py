"""Accesses that must work inside. A sandbox that refuses everything is useless."""

import os
from pathlib import Path

import pytest

from boxspec.api import HostLacks, Verdict, expect, requires
from boxspec.random_names import random_name
from boxspec.subject.observe.probes import ProbeResult
from contracts.backend.attempt import attempted_inside, control, inside
from contracts.backend.client import BackendCase
from contracts.backend.ground import Ground, is_replaced, made_ground
from contracts.backend.scene import made_scene, run_outside

PROFILES = ("read-only", "repo-write", "no-network", "full-dev", "ci-only")
# Names that have a special meaning in a list of paths, in a mount table or in a shell.
NAMES = {
    "blank": "two words",
    "colon": "a:b,c=d",
    "backslash": "a\\040b",
    "quotes": 'it\'s "so"',
    "dollar": "$HOME;%s*[a]",
    "option": "--",
}
EVERYWHERE = ("o_devices", "o_pipes", "o_children", "o_exec", "o_system")


def _works(case: BackendCase, name: str, profile: str) -> None:
    with made_scene(name) as scene:
        scene.params["program"] = scene.ground.program
        _, attempted = inside(case, scene, profile)
        expect(scene.probe.tries, str(attempted), "did", verdict=Verdict.OVERREFUSED)


@requires("BACKEND-ALLOW-01")
def test_the_workspace_is_for_work(case: BackendCase) -> None:
    _works(case, "o_workspace", "repo-write")


@requires("BACKEND-ALLOW-01")
@pytest.mark.parametrize("name", NAMES)
def test_a_workspace_may_have_any_name(case: BackendCase, name: str) -> None:
    with made_ground() as ground:
        root = ground.ws / NAMES[name]
        root.mkdir()
        session = case.backend.run(
            [{"program": "/bin/sh", "args": ["-c", "echo 1 >made && ln -s made link && rm link"]}],
            root=root,
            profile="repo-write",
            on_unavailable="degrade",
        )
        session.need_enforcement()
        call = session.only
        shown = call.stderr[-400:].decode(errors="replace") if call.ok else call.error["message"]
        made = [path.name for path in root.iterdir()]
        expect("files created in the root", made, ["made"], {"inside": shown}, Verdict.OVERREFUSED)


@requires("BACKEND-ALLOW-01")
@pytest.mark.parametrize("place", ["/tmp", "/var/tmp", "/dev/shm"])
def test_a_workspace_may_lie_where_a_sandbox_has_its_own_files(
    case: BackendCase, place: str
) -> None:
    if not os.access(place, os.W_OK):
        raise HostLacks("other users", f"{place} is not open to this user")
    with made_ground(Path(place)) as ground:
        session = case.backend.run(
            [{"program": "/bin/sh", "args": ["-c", "cat file && echo 1 >made"]}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        )
        session.need_enforcement()
        call = session.only
        shown = call.stderr[-400:].decode(errors="replace") if call.ok else call.error["message"]
        made = (ground.ws / "made").exists()
        expect("whether a file is made", made, True, {"inside": shown}, Verdict.OVERREFUSED)


@requires("BACKEND-ALLOW-02")
@pytest.mark.parametrize("profile", PROFILES)
def test_basic_accesses_of_every_program_work(case: BackendCase, profile: str) -> None:
    """Run all probes in one session, with a call for each. They do not affect each other."""
    with made_ground() as ground:
        arms = [_armed(ground, name) for name in EVERYWHERE]
        session = case.backend.run(
            [{"program": words[0], "args": words[1:]} for words in arms],
            root=ground.ws,
            profile=profile,
            on_unavailable="degrade",
        )
        attempted_inside(session)
        outcomes = [
            str(ProbeResult.of(call.stdout)) if call.ok else "no result" for call in session.calls
        ]
        found = dict(zip(EVERYWHERE, outcomes, strict=True))
        wanted = dict.fromkeys(EVERYWHERE, "did")
        # A minimal host lacks some files even without a sandbox.
        lacks = [name for name in EVERYWHERE if found[name] != "did" and _fails_outside(name)]
        for name in lacks:
            found[name] = wanted[name] = "not possible without a sandbox either"
        expect("the result of each attempt", found, wanted, verdict=Verdict.OVERREFUSED)
    if lacks:
        raise HostLacks("set-up", f"files that {', '.join(lacks)} needs even without a sandbox")


def _fails_outside(name: str) -> bool:
    with made_scene(name) as scene:
        attempted, _ = run_outside(scene, scene.arm(program=scene.ground.program))
    return attempted.outcome != "did"


def _armed(ground: Ground, name: str) -> list[str]:
    """Return the command that starts a probe with a separate file of parameters."""
    words = ground.write_params(name, program=ground.program)
    own = ground.params.with_name(random_name())
    ground.params.rename(own)
    return [*words[:-1], str(own)]


@requires("BACKEND-ALLOW-03")
def test_an_open_network_is_open(case: BackendCase) -> None:
    case.backend.need("open network")
    control("n_tcp4")
    with made_scene("n_tcp4") as scene:
        _, attempted = inside(case, scene, "repo-write")
        hits = [hit for observer in scene.observers for hit in observer.hits()]
        expect(
            "connections that the listener got",
            len(hits),
            1,
            {"said": str(attempted)},
            Verdict.OVERREFUSED,
        )


@requires("BACKEND-ALLOW-05", needs=["BACKEND-LAUNCH-07"])
@pytest.mark.parametrize("link", [None, "the cache", "the home"])
def test_the_cache_of_the_home_is_for_work(case: BackendCase, link: str | None) -> None:
    """The cache or the home may be a link to a place outside the root, as on another disk."""
    case.backend.need("cache")
    with made_ground() as ground:
        if link is not None and is_replaced(ground.folder):
            # A sandbox with its own /tmp has no link there.
            raise HostLacks("set-up", f"a home outside {ground.folder}: BOXSPEC_CASE_ROOT")
        home, cache = ground.home, ground.home / ".cache"
        if link == "the cache":
            real = ground.folder / "disk"
            real.mkdir()
            cache.symlink_to(real)
        else:
            cache.mkdir()
        if link == "the home":
            home = ground.folder / "link"
            home.symlink_to(ground.home)
        session = case.backend.run(
            [
                {
                    "program": "/bin/sh",
                    "args": ["-c", 'mkdir "$1/a" && : >"$1/a/f"', "sh", f"{home}/.cache"],
                }
            ],
            root=ground.ws,
            profile="full-dev",
            on_unavailable="degrade",
            shim_env={"HOME": str(home)},
        )
        session.need_enforcement()
        there = (cache / "a" / "f").exists()
        expect("files created in HOME/.cache", there, True, verdict=Verdict.OVERREFUSED)


@requires("BACKEND-ALLOW-05", needs=["BACKEND-LAUNCH-07"])
@pytest.mark.parametrize("spelling", ["{}/", "{}//", "{}/.", "/.{}", "{}/../{name}"])
def test_the_cache_is_for_work_however_home_is_spelled(case: BackendCase, spelling: str) -> None:
    case.backend.need("cache")
    with made_ground() as ground:
        cache = ground.home / ".cache"
        cache.mkdir()
        home = spelling.format(ground.home, name=ground.home.name)
        session = case.backend.run(
            [{"program": "/bin/sh", "args": ["-c", ': >"$1/f"', "sh", str(cache)]}],
            root=ground.ws,
            profile="full-dev",
            on_unavailable="degrade",
            shim_env={"HOME": home},
        )
        session.need_enforcement()
        there = (cache / "f").exists()
        expect(f"files created in {home}/.cache", there, True, verdict=Verdict.OVERREFUSED)


# Two pipelines: in the first the last stage reads all data, in the second the last stage ends
# early.
PIPELINES = "seq 2000 | cat | sort -n | tail -n 1; yes | cat | cat | head -n 1"


@requires("BACKEND-ALLOW-06", stress=100)
def test_pipelines_of_several_stages_run_to_their_end(case: BackendCase) -> None:
    with made_ground() as ground:
        times = 100 if case.stress else 10
        session = case.backend.run(
            [{"program": "/bin/sh", "args": ["-c", PIPELINES]}] * times,
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
            within_s=120.0,
        )
        session.need_enforcement()
        found = [(call.stdout, call.stderr, call.result["exit_code"]) for call in session.calls]
        expect(
            "stdout, stderr and exit code of each program", found, [(b"2000\ny\n", b"", 0)] * times
        )
