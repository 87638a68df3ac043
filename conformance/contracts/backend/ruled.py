"""Sessions under a policy, on a workspace that has what the policy denies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from boxspec.judge.expect import expect, shown
from boxspec.judge.verdict import Declared, Failure, HostLacks, Verdict
from boxspec.subject.case import Case
from boxspec.subject.observe.probes import Said
from contracts.backend.answers import ObservedSession
from contracts.backend.attempt import WORK, need_an_end, said_inside
from contracts.backend.ground import Ground, made_ground
from contracts.backend.scene import Scene, made_scene, run_outside
from contracts.shared.documents import one_profile

# The pattern of one that agents persist in, below the workspace.
DENIED = "a/b/denied"


def policy(deny: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    return {**one_profile(deny_modify=deny, **more), "fs_profile": "p"}


def planted(scene: Scene, denied: str) -> Path:
    """A file that is there at the start, with a neighbour."""
    path = scene.ground.ws / denied
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("canary\n")
    return path


def session_of(
    case: Case, scene: Scene, rules: dict[str, Any], profile: str = "repo-write", **params: object
) -> tuple[ObservedSession, Said]:
    program, *args = scene.arm(sibling=scene.ground.ws / "sibling", **params)
    session = case.backend.run(
        [{"program": program, "args": args}],
        root=scene.ground.ws,
        profile=profile,
        policy=rules,
        on_unavailable="degrade",
        state=scene.state,
        shim_env={"HOME": str(scene.ground.home)},
    )
    return session, said_inside(session, WORK)


def line_inside(
    case: Case,
    ground: Ground,
    line: str,
    rules: dict[str, Any],
    *,
    root: Path | None = None,
    profile: str = "repo-write",
    state: Sequence[str] = (),
) -> ObservedSession:
    """A line of shell under these rules; root: the workspace, unless it is told."""
    session = case.backend.run(
        [{"program": "/bin/sh", "args": ["-c", line]}],
        root=root or ground.ws,
        profile=profile,
        policy=rules,
        on_unavailable="degrade",
        shim_env={"HOME": str(ground.home)},
        state=state,
    )
    session.need_enforcement()
    return session


def named(session: ObservedSession, rule: str) -> list[dict[str, Any]]:
    """The reports that this rule does not hold."""
    return [each for each in session.result["not_enforced"] if each["rule"] == rule]


def told_of(session: ObservedSession, name: str) -> list[dict[str, Any]]:
    """The reports that a rule on this path does not hold, or one on a directory that it lies in. A
    rule is told as it is written: of a profile with its `!`, of a directory with all below."""
    rules = {str(each["rule"]): each for each in session.result["not_enforced"]}
    plain = {rule: rule.removeprefix("!").removesuffix("/**") for rule in rules}
    return [rules[rule] for rule, path in plain.items() if f"{name}/".startswith(f"{path}/")]


def expect_unchanged(session: ObservedSession, name: str, changes: Sequence[str]) -> None:
    """What changed of a path that the policy denies to modify, unless a rule on it was named."""
    told = told_of(session, name)
    if changes and told:
        raise Declared(str(told[0]["rule"]), "not enforced", changes[0], str(told[0]["why"]))
    expect("what changed of what is denied", changes, [], verdict=Verdict.CONTRADICTION)


def expect_unread(session: ObservedSession, name: str, is_read: bool) -> None:
    """fs-read is about the policy: a rule that does not hold is no claim in full."""
    told = told_of(session, name) if is_read else []
    if told and session.claim("fs-read")["claim"] != "fully":
        raise Declared(str(told[0]["rule"]), "not enforced", f"{name} is read", str(told[0]["why"]))
    if is_read:
        session.excuse("fs-read", f"{name} is read")
    expect("whether it is read", is_read, False, verdict=Verdict.CONTRADICTION)


def holds(
    case: Case, probe: str, denied: str = DENIED, rule: str | None = None, plant: bool = True
) -> None:
    """An attempt on a denied path: without a sandbox it works here, inside it changes nothing."""
    rule = rule or denied
    with made_scene(probe) as scene:
        path = planted(scene, denied) if plant else scene.ground.ws / denied
        scene.ground.watch(path)
        said, _ = run_outside(scene, scene.arm(denied=path))
        if not scene.ground.changes():
            raise HostLacks("escape probes", f"{probe} changes nothing here even outside: {said}")
    with made_scene(probe) as scene:
        path = planted(scene, denied) if plant else scene.ground.ws / denied
        scene.ground.watch(path)
        session, said = session_of(case, scene, policy((rule,)), denied=path)
        changes = scene.ground.changes()
        reported = named(session, rule)
        if changes and reported:
            escaped = f"{probe}: {changes[0]}"
            raise Declared(rule, "not enforced", escaped, str(reported[0]["why"]))
        if changes:
            raise Failure(
                f"{scene.probe.tries} ({rule})",
                "what the policy denies stays as it is, or the rule is named as not enforced",
                "; ".join(changes),
                {"inside": str(said), "not enforced": shown(session.result["not_enforced"])},
                Verdict.CONTRADICTION,
                why=f"{probe} changes a denied path",
            )
        need_an_end(scene, session, said)


def makes_nothing(case: Case, rules: dict[str, Any]) -> None:
    """A session of these rules leaves the workspace as it was: it has `dir` and a few files."""
    with made_ground() as ground:
        (ground.ws / "dir").mkdir()
        program, *args = ground.write_params("o_devices")
        ground.watch(ground.ws)
        session = case.backend.run(
            [{"program": program, "args": args}],
            root=ground.ws,
            profile="repo-write",
            policy=rules,
            on_unavailable="degrade",
        )
        said_inside(session)
        expect("what changed in the workspace", ground.changes(), [])
