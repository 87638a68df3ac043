"""Trust nothing: what a shim must show before any score.

A shim that says yes to everything, no to everything, echoes, or answers stale ids is "not a
conforming shim". These questions are coarse on purpose: an implementation with one real mistake
must come through, so that the requirement it breaks can say so.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from boxspec import answers
from boxspec.answers import Say
from boxspec.answers import no as _no
from boxspec.case import Box
from boxspec.client.serve import Serve
from boxspec.errors import NotConforming, ShimBroke
from boxspec.expect import shown
from boxspec.programs import programs
from boxspec.sbpl import trust as profiles
from boxspec.seen import Seen
from boxspec.session import Session
from boxspec.verdict import Failure

WITHIN_S = 10.0


def _quiet(_: str) -> None:
    pass


def trust(session: Session, say: Say = _quiet, contracts: Sequence[str] | None = None) -> None:
    """Run the checks of these contracts, or of all; NotConforming names the first that failed.

    Fills session.hello.
    """
    box = Box(session, "smoke")
    keep = True
    try:
        _serve(session, box.folder, say)
        _run(session, box, say)
        if contracts is None or "exec" in contracts:
            _exec(box, say)
        if contracts is None or "policy" in contracts:
            answers.trust(box, say)
        if contracts is None or "sbpl" in contracts:
            profiles.trust(box, say)
        keep = False
    except (ShimBroke, Failure) as why:
        facts = "".join(f"\n  {name}: {fact}" for name, fact in why.evidence.items())
        facts += f"\n  kept: {box.folder}"
        raise NotConforming(f"not a conforming shim: {why}{facts}") from why
    finally:
        box.close(keep=keep)


def _hello(answer: dict[str, Any], nonce: str, pid: int, way: str) -> dict[str, Any]:
    if "result" not in answer:
        raise _no(f"hello ({way}) is answered with {shown(answer)}")
    hello: dict[str, Any] = answer["result"]
    if hello["nonce"] != nonce:
        raise _no(f"hello ({way}) repeats the nonce {hello['nonce']!r}, sent was {nonce!r}")
    if hello["pid"] != pid:
        raise _no(
            f"hello ({way}) says pid {hello['pid']}, the started process is {pid};"
            " a wrapper must exec the shim"
        )
    return hello


def _serve(session: Session, folder: Path, say: Say) -> None:
    serve = Serve(session.argv, folder / "serve", session.env, within_s=WITHIN_S)
    try:
        nonces = [uuid.uuid4().hex for _ in range(2)]
        first, second = (
            _hello(serve.call("hello", protocol=1, nonce=nonce), nonce, serve.shim_pid, "serve")
            for nonce in nonces
        )
        if {**first, "nonce": ""} != {**second, "nonce": ""}:
            raise _no("hello twice in one session says two different things")
        say("hello: nonce, pid and shape are right, twice the same")
        for op in ("exec.no-such-op", f"nothing-{os.urandom(3).hex()}.run"):
            answer = serve.call(op)
            if "unsupported" not in answer:
                raise _no(f"the unknown operation {op!r} is answered with {shown(answer)}")
        say("unknown operation and unknown capability: unsupported")
        ended = serve.bye()
        if ended is None or (ended.how, ended.number) != ("exited", 0):
            raise _no(f"after bye it should exit 0; it {_how(ended)}")
        say("bye: exits 0")
        session.said_hello(first)
    finally:
        serve.close()


def _how(ended: Any) -> str:
    return "stayed" if ended is None else f"{ended.how} {ended.number}"


def _run(session: Session, box: Box, say: Say) -> None:
    nonce = uuid.uuid4().hex
    message = {"op": "hello", "protocol": 1, "nonce": nonce}
    with box.launch(message, Seen, within_s=WITHIN_S) as live:
        try:
            seen = live.finish()
        except ShimBroke as why:
            way = "started as `SHIM run REQUEST RESPONSE` (shim-protocol.md, two ways in)"
            raise ShimBroke(f"{why}, {way}", why.evidence) from why
        hello = _hello(seen.raw or {}, nonce, live.shim_pid, "run")
    if seen.survivors:
        left = ", ".join(proc.describe() for proc in seen.survivors)
        raise _no(f"hello (run) leaves a process behind: {left}")
    if sorted(hello["capabilities"]) != sorted(session.hello["capabilities"]):
        raise _no("run and serve declare different capabilities")
    say("run mode: hello from file to file, the same capabilities")


def _exec(box: Box, say: Say) -> None:
    if "exec" in box.capabilities:
        _twins(box, say)
        _sentinels(box, say)
    else:
        _no_exec(box, say)


def _twins(box: Box, say: Say) -> None:
    """A run whose answer is yes, and twins whose answer is no."""
    for _ in range(2):
        yes = box.run(program=programs.exit_with, args=["0"], within_s=WITHIN_S)
        if not yes.ok or not yes.result["success"]:
            raise _no(f"a program that exits 0 is answered with {shown(yes.raw)}")
        box.session.startup_ms = yes.elapsed_ms
    missing = box.run(program="/boxspec/no/such/program", within_s=WITHIN_S)
    seven = box.run(program=programs.exit_with, args=["7"], within_s=WITHIN_S)
    if missing.ok and missing.result["success"] and seven.ok and seven.result["success"]:
        raise _no("a missing program and one that exits 7 are both a success: it says yes to all")
    say("exit 0 succeeds (twice); a missing program and exit 7 do not")


def _no_exec(box: Box, say: Say) -> None:
    """Not declared: a run is unsupported. How long this shim takes to start is told by it too."""
    seen = box.run(program=programs.exit_with, args=["0"], within_s=WITHIN_S)
    box.session.startup_ms = seen.elapsed_ms
    if seen.unsupported is None:
        raise answers.undeclared("exec", seen.raw or {})
    say("exec: not declared, unsupported")


# The coarsest question about each capability: the fields of an exec.run.
_RUNS: dict[str, dict[str, Any]] = {
    "exec.cap": {"args": ["0"], "max_output_bytes": 1000},
    "exec.stdin_failure": {"args": ["0"], "stdin": b"x", "stdin_failure": "ignore"},
    "exec.sandbox": {"args": ["0"], "sandbox": {"refuse": "smoke"}},
}


def _ask(box: Box, capability: str) -> dict[str, Any]:
    if capability == "exec.concurrent":
        runs = [(0, {"program": programs.exit_with, "args": [code]}) for code in "07"]
        return box.batch(runs, within_s=WITHIN_S).raw or {}
    if capability == "exec.debug":
        seen = box.send({"op": "exec.format_env", "env": "inherit"}, within_s=WITHIN_S)
        return seen.raw or {}
    fields = _RUNS[capability]
    return box.run(program=programs.exit_with, within_s=WITHIN_S, **fields).raw or {}


def _sentinels(box: Box, say: Say) -> None:
    for capability in ("exec.concurrent", "exec.debug", *_RUNS):
        declared = capability in box.capabilities
        answers.sentinel(capability, declared, _ask(box, capability), say)
