"""Make an attempt to escape and judge it.

An attempt counts only if it has its effect on this host without a sandbox, and if an allowed
counterpart works inside. The effect outside decides the verdict.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from typing import Unpack

from boxspec.judge.expect import expect
from boxspec.judge.verdict import Failure, HostLacks, Verdict
from boxspec.subject.observe.probes import ProbeResult
from contracts.backend.answers import ObservedSession
from contracts.backend.client import BackendCase, ProbeFields
from contracts.backend.scene import SECRET, Scene, made_scene, run_outside
from contracts.shared.requests import ExecRequest

WRITABLE = frozenset({"repo-write", "no-network", "full-dev", "ci-only"})
OWN = "launch"
# Before its attempt every probe writes to a permitted place, or opens /dev/null. These requirements
# are about these accesses.
WORK, EVERYWHERE = "BACKEND-ALLOW-01", "BACKEND-ALLOW-02"


def attempt(
    case: BackendCase, name: str, profile: str = "repo-write", **context: Unpack[ProbeFields]
) -> None:
    """Make one attempt inside the backend of this run, and judge it."""
    case.backend.need_sessions_that_return()
    control(name)
    with made_scene(name) as scene:
        session, attempted = inside(case, scene, profile, **context)
        judge(scene, session, attempted)


def control(name: str) -> None:
    """Make the attempt on a separate ground without a sandbox. It must have its effect there."""
    with made_scene(name) as scene:
        need_effect(scene)


def need_effect(scene: Scene, **params: object) -> None:
    """Raise HostLacks if the attempt has no effect on this host without a sandbox.

    A normal user repeats the attempt with the capabilities of a new user namespace, because a
    sandbox may give them too. The attempt changes the ground, so it cannot be used again.
    """
    # Listeners report each connection only once. So the effects are read once for each attempt.
    attempted, _ = run_outside(scene, scene.arm(**params))
    found = scene.effects(attempted)
    if not found and os.geteuid() != 0:
        scene.state.append("--own-user")
        attempted, _ = run_outside(scene, scene.arm(**params))
        found = scene.effects(attempted)
    if not found:
        why = f"{scene.probe.name} does nothing here even without a sandbox: {attempted}"
        raise HostLacks("working escape attempts", why)


def inside(
    case: BackendCase, scene: Scene, profile: str, **context: Unpack[ProbeFields]
) -> tuple[ObservedSession, ProbeResult]:
    """Make the attempt inside; raise NotApplicable if the session runs without a sandbox."""
    more = {"sibling": scene.ground.ws / "sibling"} if profile in WRITABLE else {}
    program, *args = scene.arm(**more)
    call: ExecRequest = {"program": program, "args": args}
    session = case.backend.run(
        [call],
        root=scene.ground.ws,
        profile=profile,
        on_unavailable="degrade",
        state=scene.state,
        shim_env={"HOME": str(scene.ground.home), SECRET: scene.ground.token},
        shim_stdin=scene.stdin,
        **context,
    )
    return session, attempted_inside(session, WORK if profile in WRITABLE else EVERYWHERE)


def attempted_inside(
    session: ObservedSession, allowed: str = EVERYWHERE, at: int = 0
) -> ProbeResult:
    """Return the result that the probe of a call printed, by default of the first call.

    Fail if the probe did not run. A probe also tries a counterpart that must work. If the
    counterpart failed, blame the requirement `allowed`, unless the test itself is for that
    requirement.
    """
    session.need_enforcement()
    answer = session.calls[at]
    if not answer.ok:
        raise Failure(
            "a program runs inside",
            "a result",
            str(answer.error["message"]),
            verdict=Verdict.OVERREFUSED,
            symptom="no program runs inside",
        )
    attempted = ProbeResult.of(answer.stdout)
    shown = {"stdout": answer.stdout[:400], "stderr": answer.stderr[:400]}
    if not attempted.is_told and not attempted.sibling:
        raise Failure(
            "the attempt is made inside",
            "the probe's own lines",
            f"none, exit {answer.result['exit_code']}",
            shown,
            Verdict.UNPROVEN,
            symptom="the probe reports no result",
            needs=[allowed],
        )
    if not attempted.sibling:
        raise Failure(
            "the allowed counterpart works inside",
            "an allowed file is written",
            "an allowed file is refused",
            shown,
            Verdict.OVERREFUSED,
            symptom="the allowed counterpart is refused",
            needs=[allowed],
        )
    return attempted


def judge(scene: Scene, session: ObservedSession, attempted: ProbeResult, at: int = 0) -> None:
    """Judge an attempt by its effect outside, and after that by the error inside."""
    probe = scene.probe
    effects = scene.effects(attempted)
    claim = session.claim(probe.aspect)
    declared, reasons = claim["claim"], "; ".join(claim.get("reasons", ()))
    evidence = {
        "effects": effects,
        "inside": str(attempted),
        "claim": f"{declared} {reasons}".strip(),
    }
    if effects and probe.aspect != OWN:
        session.excuse(probe.aspect, f"{probe.name}: {effects[0]}")
    if effects:
        raise Failure(
            probe.tries,
            "no effect outside the sandbox",
            "; ".join(effects),
            evidence,
            Verdict.ESCAPED if probe.aspect == OWN else Verdict.CONTRADICTION,
            why=f"{probe.name} escapes",
        )
    if attempted.outcome == "refused" and attempted.errno not in probe.accepts:
        raise Failure(
            f"{probe.tries}: how it is refused",
            f"one of {', '.join(sorted(probe.accepts))}",
            str(attempted),
            evidence,
            Verdict.WRONG_REASON,
        )
    need_an_end(scene, session, attempted, at)


def need_an_end(
    scene: Scene, session: ObservedSession, attempted: ProbeResult, at: int = 0
) -> None:
    """Fail unless the attempt was completed, was refused, or was killed by a filter.

    In other cases a missing effect is no evidence: a probe that crashed or ran out of time may not
    have made its attempt.
    """
    ended = session.calls[at].result["exit_code"]
    # A filter may have killed all processes of the probe. The exit code of the session is then 128
    # plus the number of the signal.
    if attempted.is_told or (attempted.outcome == "nothing" and ended == 128 + signal.SIGSYS):
        return
    raise Failure(
        scene.probe.tries,
        "the probe reports its result, or is killed by SIGSYS",
        f"{attempted}, exit {ended}",
        {"inside": str(attempted), "stderr": session.calls[at].stderr[:400]},
        Verdict.UNPROVEN,
        symptom="the probe does not complete its attempt",
    )


def expect_nothing_outside(session: ObservedSession, changes: Sequence[str], by: str) -> None:
    """Fail if something outside has changed, although no probe should change it."""
    if changes:
        session.excuse("fs-write", f"{by}: {changes[0]}")
    expect(f"effects outside the sandbox ({by})", changes, [], verdict=Verdict.CONTRADICTION)
