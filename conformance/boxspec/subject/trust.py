"""Check whether a shim can be trusted, before it gets a score.

A shim that accepts everything, refuses everything, echoes requests or answers with outdated ids is
"not a conforming shim". The checks are coarse on purpose: an implementation with one real mistake
must pass them, so that the broken requirement reports the mistake.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from boxspec.errors import ASKED, NotConforming, ShimBroke, UsageError
from boxspec.folders import size
from boxspec.judge.expect import shown
from boxspec.judge.verdict import Failure, Late
from boxspec.places import COMMAND
from boxspec.subject.case import Case
from boxspec.subject.client import known
from boxspec.subject.client.serve import Serve
from boxspec.subject.contract import Say, find, names
from boxspec.subject.leftovers import Leftovers
from boxspec.subject.observed import Observed
from boxspec.subject.refused_calls import refused_calls
from boxspec.subject.sentinels import UNSUPPORTED, quiet
from boxspec.subject.sentinels import no as _no
from boxspec.subject.session import Session

WITHIN_S = 10.0
# If a check takes longer than this, a line says so, so that the user sees which check hangs.
SLOW_S = 8.0
# From this size on, the report names the size of a folder that is kept.
LARGE_MIB = 10
# A check is tried up to this many times if it fails because the machine is busy.
TIMES = 3


def trust(
    session: Session,
    say: Say = quiet,
    contracts: Sequence[str] | None = None,
    slow: Say = quiet,
) -> None:
    """Run the checks of these contracts, or of all. Raise NotConforming at the first failed check.

    slow: gets a line if a check takes longer than SLOW_S; called in another thread.
    The answer to `hello` is stored in session.hello.
    """
    _step(session, _serve, say, slow)
    _step(session, _run, say, slow)
    _step(session, _elsewhere, say, slow)
    for name in names():
        if contracts is None or name in contracts:
            contract = find(name)
            with _in_one_line(say) as tell:
                _step(session, contract.ask_trust, tell, slow, contract.case_class())


@contextlib.contextmanager
def _in_one_line(say: Say) -> Iterator[Say]:
    """Collect the names of capabilities that are rightly refused, and print them in one line."""
    refused: list[str] = []

    def tell(line: str) -> None:
        capability, _, what = line.partition(": ")
        if what == UNSUPPORTED:
            refused.append(capability)
        else:
            say(line)

    yield tell
    if refused:
        say(f"{', '.join(refused)}: {UNSUPPORTED}")


def _step(
    session: Session, ask: Callable[[Any, Say], None], say: Say, slow: Say, make: type[Case] = Case
) -> None:
    """Run one check. If it was late because the machine was busy, repeat it."""
    printed: list[str] = []

    def print_once(line: str) -> None:
        if line not in printed:
            printed.append(line)
            say(line)

    for left in reversed(range(TIMES)):
        case = make(session, "smoke")
        keep = False
        timer = threading.Timer(SLOW_S, partial(_note_slow, case, slow))
        timer.daemon = True
        timer.start()
        try:
            ask(case, print_once)
            return
        except (ShimBroke, Failure, Late, NotConforming) as why:
            if isinstance(why, Late) and left:
                continue
            keep = True
            reason = str(why) if isinstance(why, NotConforming) else f"not a conforming shim: {why}"
            raise NotConforming(reason, _facts(case, why)) from why
        finally:
            timer.cancel()
            case.close(keep=keep)


def _note_slow(case: Case, slow: Say) -> None:
    asked = case.request_text()
    awaited = f"its answer to {asked}" if asked else "its start"
    limit = f"limit {WITHIN_S:g} s, longer on a busy machine"
    slow(f"still checking the shim after {SLOW_S:g} s ({limit}); waiting for {awaited}")


def _facts(case: Case, why: Exception) -> Iterator[str]:
    """Yield lines for the report: the request, the evidence, and the folder that is kept."""
    evidence: dict[str, Any] = getattr(why, "evidence", {})
    asked = case.request_text(why)
    if asked is not None and ASKED not in evidence:
        yield f"request: {asked}"
    for name, fact in evidence.items():
        yield f"{name}: {fact}"
    if refused := ", ".join(refused_calls()):
        yield f"host: a filter refuses system calls: {refused}; a shim that needs one fails here"
    # A shim may have written hundreds of megabytes.
    mib = size(case.folder) >> 20
    large = f" ({mib} MiB; {COMMAND} clean --force removes it)" if mib >= LARGE_MIB else ""
    yield f"kept: {case.kept}{large}"


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


def _serve(case: Case, say: Say) -> None:
    session = case.session
    place = case.folder / "serve"
    serve = Serve(session.argv, place, session.env, within_s=WITHIN_S, state=session.state)

    def ask(message: dict[str, Any]) -> dict[str, Any]:
        case.asked = message
        return serve.ask(message)

    try:
        nonces = [uuid.uuid4().hex for _ in range(2)]
        first, second = (
            _hello(
                ask({"op": "hello", "protocol": 1, "nonce": nonce}), nonce, serve.shim_pid, "serve"
            )
            for nonce in nonces
        )
        answers = [known.result("hello", {**each, "nonce": ""}) for each in (first, second)]
        if answers[0] != answers[1]:
            raise _no("two hello requests in one session are answered differently")
        say("hello: nonce, pid and fields are right, equal in two answers")
        unknown = [f"{name}.no-such-op" for name in names()[:1]]
        for op in (*unknown, f"nothing-{os.urandom(3).hex()}.run"):
            answer = ask({"op": op})
            if "unsupported" not in answer:
                raise _no(f"the unknown operation {op!r} is answered with {shown(answer)}")
        say("unknown operation and unknown capability: answered with `unsupported`")
        ended = serve.bye()
        if ended is None or (ended.how, ended.number) != ("exited", 0):
            raise _no(f"after bye it should exit 0; it {_how(ended)}")
        leftovers = Leftovers()
        leftovers.add(serve.left)
        if leftovers.summary:
            raise _no(f"serve leaves {leftovers.summary}")
        say("bye: exits 0")
        session.accept_hello(first)
        case.asked = None
    finally:
        serve.close()


def _how(ended: Any) -> str:
    return "stayed" if ended is None else f"{ended.how} {ended.number}"


def _run(case: Case, say: Say) -> None:
    session = case.session
    nonce = uuid.uuid4().hex
    message = {"op": "hello", "protocol": 1, "nonce": nonce}
    with case.launch(message, Observed, within_s=WITHIN_S) as shim:
        try:
            seen = shim.finish()
        except ShimBroke as why:
            way = "started as `SHIM run REQUEST RESPONSE` (shim-protocol.md, two ways in)"
            raise ShimBroke(f"{why}, {way}", why.evidence) from why
        hello = _hello(seen.raw or {}, nonce, shim.shim_pid, "run")
        leftovers = Leftovers()
        leftovers.add(seen.survivors)
    session.startup_ms = seen.elapsed_ms
    if shim.warden.spent is not None:
        session.start_cpu_s = shim.warden.spent.cpu_ns / 1e9
    if leftovers.summary:
        raise _no(f"hello (run) leaves {leftovers.summary}")
    if sorted(hello["capabilities"]) != sorted(session.hello["capabilities"]):
        raise _no("run and serve declare different capabilities")
    say("`run REQUEST RESPONSE`: hello is answered, with the same capabilities")


def _elsewhere(case: Case, _: Say) -> None:
    """Check that the shim starts in another working directory, as it does in cases."""
    argv = case.session.argv
    message = {"op": "hello", "protocol": 1, "nonce": uuid.uuid4().hex}
    state = ["--cwd", str(case.tmp)]
    with case.launch(
        message, Observed, within_s=WITHIN_S, state=state, expect_result=False
    ) as shim:
        seen = shim.finish()
    if seen.raw is None:
        lines = [f"it {_how(shim.warden.shim_exit)} without a response"]
        lines += seen.shim_stderr.decode("utf-8", "replace").splitlines()[-1:]
        raise UsageError(
            f"--shim {shlex.quote(shlex.join(argv))}",
            f"does not answer in another folder, where tests start it: {': '.join(lines)}",
            "name it, and the files that it loads, by absolute paths",
        )
