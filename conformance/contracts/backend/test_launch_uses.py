"""Attempts of every aspect, in each use of a session and under each profile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

import pytest

from boxspec.api import Declared, HostLacks, requires
from boxspec.random_names import random_name
from boxspec.subject.observe.probes import table
from boxspec.subject.session import Session
from contracts.backend.attempt import EVERYWHERE, OWN, WORK, attempted_inside, control, judge
from contracts.backend.client import BackendCase, Context
from contracts.backend.ground import Ground
from contracts.backend.scene import SECRET, made_scenes
from contracts.backend.uses import USES, Use, name_of
from contracts.shared.requests import ExecRequest

NEEDS = ["BACKEND-CONTEXT-02", "BACKEND-CONTEXT-04", "BACKEND-CONTEXT-06"]
# The attempts are made under the profile ci-only, which requests most aspects.
ATTEMPTS = (
    *("w_create", "w_chmod", "n_tcp4", "n_udp6", "p_kill_usr1", "n_unix_path_out"),
    *("n_unix_abstract", "i_fifo", "k_io_uring_setup", "n_netlink_diag", "e_fds", "e_caps"),
)
READ_ONLY = ("w_ws_change", "w_ws", "w_ws_unlink", "w_create")
# For each session of the kit, the attempts that had an effect without a sandbox.
_effective: WeakKeyDictionary[Session, dict[str, bool]] = WeakKeyDictionary()


def _has_effect(case: BackendCase, name: str) -> bool:
    known = _effective.setdefault(case.session, {})
    if name not in known:
        try:
            control(name)
        except HostLacks:
            known[name] = False
        else:
            known[name] = True
    return known[name]


def _attempt_all(
    case: BackendCase, use: Callable[[Ground], Use], profile: str, names: Sequence[str]
) -> None:
    """Make the attempts whose aspect is claimed fully, one after the other in one session."""
    claims = case.backend.probe(profile).result["aspects"]
    aspects = {name: table()[name].aspect for name in names}
    full = [
        name
        for name, aspect in aspects.items()
        if aspect == OWN or claims.get(aspect, {}).get("claim") == "fully"
    ]
    chosen = [name for name in full if _has_effect(case, name)]
    if not full:
        raise Declared("each aspect", "not fully", "nothing was attempted")
    if not chosen:
        raise HostLacks("working escape attempts", f"none of {', '.join(full)} has an effect here")
    writes = profile != "read-only"
    with made_scenes(chosen) as scenes:
        ground = scenes[0].ground
        used = use(ground)
        calls: list[ExecRequest] = []
        for scene in scenes:
            ground.params = ground.ws / random_name()
            program, *args = scene.arm(**({"sibling": ground.ws / "sibling"} if writes else {}))
            calls.append({**used.call, "program": program, "args": args})
        env = {"HOME": str(ground.home), SECRET: ground.token, **used.env}
        context: Context = {"root": ground.ws, "profile": profile, **used.context}
        session = case.backend.run(
            [*used.before, *calls],
            **context,
            on_unavailable="degrade",
            state=scenes[0].state,
            shim_env=env,
        )
        for at, scene in enumerate(scenes, len(used.before)):
            attempted = attempted_inside(session, WORK if writes else EVERYWHERE, at)
            judge(scene, session, attempted, at)


@requires("BACKEND-LAUNCH-12", needs=NEEDS)
@pytest.mark.parametrize("use", USES, ids=name_of)
def test_a_call_is_confined_in_each_use(case: BackendCase, use: Callable[[Ground], Use]) -> None:
    _attempt_all(case, use, "ci-only", ATTEMPTS)


@requires("BACKEND-LAUNCH-12", needs=NEEDS)
@pytest.mark.parametrize("use", USES, ids=name_of)
def test_a_read_only_root_stays_in_each_use(
    case: BackendCase, use: Callable[[Ground], Use]
) -> None:
    _attempt_all(case, use, "read-only", READ_ONLY)


@requires("BACKEND-LAUNCH-15")
@pytest.mark.parametrize("profile", ["read-only", "repo-write", "no-network", "full-dev"])
def test_what_is_claimed_under_a_profile_holds_under_it(case: BackendCase, profile: str) -> None:
    _attempt_all(case, lambda _: Use(), profile, ATTEMPTS)
