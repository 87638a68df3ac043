"""Run sessions under a policy, in a workspace with files that the policy denies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from boxspec.judge.expect import expect, shown
from boxspec.judge.verdict import Declared, Failure, HostLacks, Verdict
from boxspec.subject.observe.probes import ProbeResult
from contracts.backend.answers import NotEnforced, ObservedSession
from contracts.backend.attempt import WORK, attempted_inside, need_an_end
from contracts.backend.client import BackendCase
from contracts.backend.ground import Ground, made_ground
from contracts.backend.scene import Scene, made_scene, run_outside
from contracts.shared.documents import one_profile

# A path in a subdirectory of the workspace, like those of configuration files in which an agent
# could hide commands.
DENIED = "a/b/denied"


def policy(deny: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    return {**one_profile(deny_modify=deny, **more), "fs_profile": "p"}


def planted(ground: Ground, name: str, root: Path | None = None) -> Path:
    """Create a file before the session starts. The root is the workspace by default."""
    path = (root or ground.ws) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("canary\n")
    return path


def session_of(
    case: BackendCase,
    scene: Scene,
    rules: dict[str, Any],
    profile: str = "repo-write",
    **params: object,
) -> tuple[ObservedSession, ProbeResult]:
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
    return session, attempted_inside(session, WORK)


def line_inside(
    case: BackendCase,
    ground: Ground,
    line: str,
    rules: dict[str, Any],
    *,
    root: Path | None = None,
    profile: str = "repo-write",
    state: Sequence[str] = (),
) -> ObservedSession:
    """Run a shell script under these rules. The root is the workspace by default."""
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


def expect_kept_backend(case: BackendCase, session: ObservedSession) -> None:
    """Fail if a session under degrade runs its programs without a sandbox, although the backend
    starts on this host."""
    claimed = case.backend.probe("repo-write").result["overall"]
    kept = session.result["enforcement"] != "none" or claimed == "unavailable"
    why = {"why": str(session.result.get("why", "the shim gives no reason"))}
    expect("whether the session still has its backend", kept, True, why)
    session.need_enforcement()


def named(session: ObservedSession, rule: str) -> list[NotEnforced]:
    """Return the entries of `not_enforced` that are about this rule."""
    return [each for each in session.result["not_enforced"] if each["rule"] == rule]


def named_in_a_profile(session: ObservedSession, rule: str) -> list[NotEnforced]:
    """Return the entries about a rule that a profile may contain with a `!`."""
    return named(session, rule) or named(session, f"!{rule}")


def excuse_rule(session: ObservedSession, rule: str, aspect: str, escaped: str) -> None:
    """Raise Declared if the rule was reported and its aspect is not claimed fully."""
    reports = named(session, rule)
    if reports and session.claim(aspect)["claim"] != "fully":
        raise Declared(rule, "not enforced", escaped, str(reports[0]["why"]))


def expect_unread_paths(session: ObservedSession, rule: str, read: Sequence[str]) -> None:
    """Fail if a denied file was read by one of its paths, or if a file without a rule was not
    read."""
    if read:
        excuse_rule(session, rule, "fs-read", f"{read[0]} is read")
    expect("paths by which the denied file is read", read, [], verdict=Verdict.CONTRADICTION)
    expect(
        "whether a file without a rule is read",
        b"canary" in session.only.stdout,
        True,
        verdict=Verdict.OVERREFUSED,
    )


def expect_made(*paths: Path) -> None:
    """Fail unless these files next to a denied path exist.

    A script creates them, the last one at its end. So they show that the script ran to its end, and
    that accesses without a rule work.
    """
    expect(
        "files next to the denied path that cannot be created",
        [path.name for path in paths if not path.exists()],
        [],
        verdict=Verdict.OVERREFUSED,
    )


def expect_unchanged_file(session: ObservedSession, rule: str, ground: Ground) -> None:
    """Fail if the denied file was changed, or if the file `neighbour` was not created."""
    changes = ground.changes()
    if changes:
        excuse_rule(session, rule, "fs-write", changes[0])
    expect("changes of the denied file", changes, [], verdict=Verdict.CONTRADICTION)
    expect_made(ground.ws / "neighbour")


def expect_held_or_named(
    session: ObservedSession, rule: str, reports: Sequence[NotEnforced], broken: bool
) -> None:
    """Fail if a rule was broken and was not reported."""
    expect(
        f"whether {rule} holds, or is named as not enforced",
        bool(reports) or not broken,
        True,
        {"not_enforced": session.result["not_enforced"]},
        Verdict.CONTRADICTION,
    )


def reports_of(session: ObservedSession, name: str) -> list[NotEnforced]:
    """Return the entries of `not_enforced` that are about this path or a directory above it.

    A rule is reported as it is written: a rule of a profile with its `!`, a subtree with `/**`.
    """
    rules = {str(each["rule"]): each for each in session.result["not_enforced"]}
    plain = {rule: rule.removeprefix("!").removesuffix("/**") for rule in rules}
    return [rules[rule] for rule, path in plain.items() if f"{name}/".startswith(f"{path}/")]


def excuse_if_named(session: ObservedSession, aspect: str, escaped: str) -> None:
    """Raise Declared if the aspect was not claimed fully before the run, and rules were reported.

    Any reported rule counts: an allowing rule may be reported as not enforced, or the deny may have
    another spelling.
    """
    if session.result["not_enforced"]:
        session.excuse(aspect, escaped)


def expect_unchanged(session: ObservedSession, name: str, changes: Sequence[str]) -> None:
    """Fail if a path that the policy denies to modify has changed.

    Raise Declared if the rule of the path was reported as not enforced.
    """
    reports = reports_of(session, name)
    if changes and reports:
        raise Declared(str(reports[0]["rule"]), "not enforced", changes[0], str(reports[0]["why"]))
    if changes:
        excuse_if_named(session, "fs-write", changes[0])
    expect("changes of denied paths", changes, [], verdict=Verdict.CONTRADICTION)


def expect_unread(session: ObservedSession, name: str, is_read: bool) -> None:
    """Fail if the path was read.

    Raise Declared if the rule of the path was reported as not enforced, and fs-read is not claimed
    fully.
    """
    reports = reports_of(session, name) if is_read else []
    if reports and session.claim("fs-read")["claim"] != "fully":
        raise Declared(
            str(reports[0]["rule"]), "not enforced", f"{name} is read", str(reports[0]["why"])
        )
    if is_read:
        session.excuse("fs-read", f"{name} is read")
    expect("whether the denied file is read", is_read, False, verdict=Verdict.CONTRADICTION)


def holds(
    case: BackendCase, probe: str, denied: str = DENIED, rule: str | None = None, plant: bool = True
) -> None:
    """Make an attempt on a path that the policy denies.

    The attempt must have its effect without a sandbox, and no effect inside.
    """
    rule = rule or denied
    with made_scene(probe) as scene:
        path = planted(scene.ground, denied) if plant else scene.ground.ws / denied
        scene.ground.watch(path)
        attempted, _ = run_outside(scene, scene.arm(denied=path))
        if not scene.ground.changes():
            raise HostLacks(
                "working escape attempts",
                f"{probe} changes nothing here even without a sandbox: {attempted}",
            )
    with made_scene(probe) as scene:
        path = planted(scene.ground, denied) if plant else scene.ground.ws / denied
        scene.ground.watch(path)
        session, attempted = session_of(case, scene, policy((rule,)), denied=path)
        changes = scene.ground.changes()
        reported = named(session, rule)
        if changes and reported:
            escaped = f"{probe}: {changes[0]}"
            raise Declared(rule, "not enforced", escaped, str(reported[0]["why"]))
        if changes:
            excuse_if_named(session, "fs-write", f"{probe}: {changes[0]}")
            raise Failure(
                f"{scene.probe.tries} ({rule})",
                "denied files stay unchanged, or the rule is named as not enforced",
                "; ".join(changes),
                {"inside": str(attempted), "not enforced": shown(session.result["not_enforced"])},
                Verdict.CONTRADICTION,
                why=f"{probe} changes a denied path",
            )
        need_an_end(scene, session, attempted)


def makes_nothing(case: BackendCase, rules: dict[str, Any]) -> None:
    """Fail if a session with these rules changes the workspace without any program.

    The workspace contains `dir` and a few files.
    """
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
        attempted_inside(session)
        expect("what changed in the workspace", ground.changes(), [])
