"""An attempt to escape, judged: without a sandbox it works here, what is allowed works inside, and
what happened outside decides."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from typing import Any

from boxspec.judge.expect import expect
from boxspec.judge.verdict import Failure, HostLacks, Verdict
from boxspec.subject.case import Case
from boxspec.subject.observe.probes import Said
from contracts.backend.answers import ObservedSession
from contracts.backend.scene import SECRET, Scene, made_scene, run_outside

WRITABLE = frozenset({"repo-write", "no-network", "full-dev", "ci-only"})
OWN = "launch"
# Who asks for what a probe does first: it writes where it may, or opens /dev/null.
WORK, EVERYWHERE = "BACKEND-ALLOW-01", "BACKEND-ALLOW-02"


def attempt(case: Case, name: str, profile: str = "repo-write", **context: Any) -> None:
    """Make one attempt inside the backend of this run, and judge it."""
    control(name)
    with made_scene(name) as scene:
        session, said = inside(case, scene, profile, **context)
        judge(scene, session, said)


def control(name: str) -> None:
    """The same attempt without a sandbox, on a ground of its own, has its effect here."""
    with made_scene(name) as scene:
        need_effect(scene)


def need_effect(scene: Scene, **params: object) -> None:
    """What is tried has its effect here without a sandbox; the ground is used up by that."""
    said, _ = run_outside(scene, scene.arm(**params))
    if not scene.effects(said):
        why = f"{scene.probe.name} does nothing here even outside: {said}"
        raise HostLacks("escape probes", why)


def inside(case: Case, scene: Scene, profile: str, **context: Any) -> tuple[ObservedSession, Said]:
    """The attempt inside; NotApplicable where the backend says that there is no inside."""
    more = {"sibling": scene.ground.ws / "sibling"} if profile in WRITABLE else {}
    program, *args = scene.arm(**more)
    call = {"program": program, "args": args}
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
    return session, said_inside(session, WORK if profile in WRITABLE else EVERYWHERE)


def said_inside(session: ObservedSession, allowed: str = EVERYWHERE) -> Said:
    """What the program of the first call said; it ran, and what is allowed worked. `allowed` is
    the requirement that asks for that by itself."""
    session.need_enforcement()
    answer = session.calls[0]
    if not answer.ok:
        raise Failure(
            "a program runs inside",
            "a result",
            str(answer.error["message"]),
            verdict=Verdict.OVERREFUSED,
            symptom="nothing runs inside",
        )
    said = Said.of(answer.stdout)
    shown = {"stdout": answer.stdout[:400], "stderr": answer.stderr[:400]}
    if not said.is_told and not said.sibling:
        raise Failure(
            "the attempt is made inside",
            "the probe's own lines",
            f"none, exit {answer.result['exit_code']}",
            shown,
            Verdict.UNPROVEN,
            symptom="the probe says nothing",
            needs=[allowed],
        )
    if not said.sibling:
        raise Failure(
            "what is allowed works inside",
            "a file is written that the profile allows",
            "it is refused",
            shown,
            Verdict.OVERREFUSED,
            symptom="the sibling is refused",
            needs=[allowed],
        )
    return said


def judge(scene: Scene, session: ObservedSession, said: Said) -> None:
    """By the effect outside, then by the error inside."""
    probe = scene.probe
    effects = scene.effects(said)
    claim = session.claim(probe.aspect)
    declared, reasons = claim["claim"], "; ".join(claim.get("reasons", ()))
    evidence = {"effects": effects, "inside": str(said), "claim": f"{declared} {reasons}".strip()}
    if effects and probe.aspect != OWN:
        session.excuse(probe.aspect, f"{probe.name}: {effects[0]}")
    if effects:
        raise Failure(
            probe.tries,
            "nothing outside is another for it",
            "; ".join(effects),
            evidence,
            Verdict.ESCAPED if probe.aspect == OWN else Verdict.CONTRADICTION,
            why=f"{probe.name} escapes",
        )
    if said.outcome == "refused" and said.errno not in probe.accepts:
        raise Failure(
            f"{probe.tries}: how it is refused",
            f"one of {', '.join(sorted(probe.accepts))}",
            str(said),
            evidence,
            Verdict.WRONG_REASON,
        )
    need_an_end(scene, session, said)


def need_an_end(scene: Scene, session: ObservedSession, said: Said) -> None:
    """That nothing happened is evidence where the attempt came to its end: it was done, was
    refused, or was killed by a filter. A probe that crashed or was ended as too slow tried
    nothing that anybody knows of."""
    ended = session.calls[0].result["exit_code"]
    # A filter may kill the probe with all that is its own: told as 128 and the signal's number.
    if said.is_told or (said.outcome == "nothing" and ended == 128 + signal.SIGSYS):
        return
    raise Failure(
        scene.probe.tries,
        "the probe says how it ended, or was killed by SIGSYS",
        f"{said}, exit {ended}",
        {"inside": str(said), "stderr": session.calls[0].stderr[:400]},
        Verdict.UNPROVEN,
        symptom="the probe does not come to its end",
    )


def expect_nothing_outside(session: ObservedSession, changes: Sequence[str], by: str) -> None:
    """What changed outside by other means than a probe's."""
    if changes:
        session.excuse("fs-write", f"{by}: {changes[0]}")
    expect(f"what is reached outside ({by})", changes, [], verdict=Verdict.CONTRADICTION)
