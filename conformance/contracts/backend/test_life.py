"""The life cycle of a session: the order and the number of its calls.

The calls are probe, prepare, wrap, run and shutdown.
"""

import os
from typing import Any

import pytest

from boxspec.api import Failure, Verdict, expect, requires
from contracts.backend.attempt import WORK, attempted_inside
from contracts.backend.client import BackendCase
from contracts.backend.ground import made_ground
from contracts.backend.scripted import scripted
from contracts.shared.requests import ExecRequest

SCRIPT = "backend.script"
# This requirement demands that a session opens, unless the contract allows a refusal.
OPENED = ["BACKEND-SESSION-01"]
MISSING = "/no/such/program"


@requires("BACKEND-LIFE-01", capability=SCRIPT, needs=OPENED)
def test_prepare_is_called_once_before_any_wrap(case: BackendCase) -> None:
    seen = scripted(case, "refuse", calls=3)
    expect("runs of the program, and directories that prepare made", (seen.runs, seen.made), (3, 1))
    logged = seen.session.logged
    expect("the log up to the first wrap", logged[: logged.index("wrap")], ["probe", "prepare"])
    expect("calls of prepare", seen.session.times("prepare"), 1)


@requires("BACKEND-LIFE-01", capability=SCRIPT, needs=OPENED)
def test_prepare_is_not_called_when_the_probe_refuses(case: BackendCase) -> None:
    seen = scripted(case, "refuse", probe="partial")
    expect("directories that prepare made", seen.made, 0)
    expect("calls of prepare", seen.session.times("prepare"), 0)


@requires("BACKEND-LIFE-02", capability=SCRIPT, needs=OPENED)
def test_wrap_is_called_for_each_call(case: BackendCase) -> None:
    seen = scripted(case, "refuse", calls=3)
    expect("runs of the program, and runs of the wrapped argv", (seen.runs, seen.wrapped), (3, 3))
    expect("calls of wrap", seen.session.times("wrap"), 3)


@requires("BACKEND-LIFE-03", capability=SCRIPT, needs=OPENED)
def test_shutdown_is_called_once_at_the_end(case: BackendCase) -> None:
    seen = scripted(case, "refuse", calls=2)
    expect(
        "runs of the program, directories made and removed",
        (seen.runs, seen.made, seen.removed),
        (2, 1, 1),
    )
    expect("calls of shutdown", seen.session.times("shutdown"), 1)
    expect("the last call of the log", seen.session.logged[-1], "shutdown")


@requires("BACKEND-LIFE-04", capability=SCRIPT, needs=OPENED)
@pytest.mark.parametrize("on_unavailable", ["refuse", "degrade"])
def test_shutdown_is_called_after_a_failed_prepare(case: BackendCase, on_unavailable: str) -> None:
    seen = scripted(case, on_unavailable, prepare="error")
    expect("directories made and removed", (seen.made, seen.removed), (1, 1))
    expect("calls of shutdown", seen.session.times("shutdown"), 1)


@requires("BACKEND-LIFE-05", capability=SCRIPT)
def test_shutdown_is_called_after_a_failed_spawn(case: BackendCase) -> None:
    # Without a wrapper, the program itself is the command that fails to start.
    seen = scripted(case, "refuse", program=MISSING, prefix=[])
    expect("whether the call failed", seen.session.only.ok, False)
    expect("directories made and removed", (seen.made, seen.removed), (1, 1))
    expect("calls of shutdown", seen.session.times("shutdown"), 1)


@requires("BACKEND-LIFE-06", capability=SCRIPT)
@pytest.mark.parametrize("on_unavailable", ["refuse", "degrade"])
def test_a_failed_wrap_is_a_failed_call(case: BackendCase, on_unavailable: str) -> None:
    seen = scripted(case, on_unavailable, wrap="error")
    expect("runs of the program", seen.runs, 0, verdict=Verdict.ESCAPED)
    expect("the kind of the error", seen.session.only.error["kind"], "execution")


@requires("BACKEND-LIFE-07", capability=SCRIPT)
def test_an_empty_command_is_a_failed_call(case: BackendCase) -> None:
    seen = scripted(case, "refuse", wrap="empty")
    expect("runs of the program", seen.runs, 0, verdict=Verdict.ESCAPED)
    expect("the kind of the error", seen.session.only.error["kind"], "execution")


@requires("BACKEND-LIFE-08", capability=SCRIPT, needs=OPENED)
def test_a_failed_shutdown_changes_no_result(case: BackendCase) -> None:
    seen = scripted(case, "refuse", shutdown="error")
    expect("runs of the program", seen.runs, 1)
    expect("whether the call succeeded", seen.session.only.result["success"], True)


@requires("BACKEND-LIFE-09")
def test_a_session_leaves_no_process_and_no_file(case: BackendCase) -> None:
    with made_ground() as ground:
        words = ground.write_params("o_devices")
        ground.watch(ground.ws)
        session = case.backend.run(
            [{"program": words[0], "args": words[1:]}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        )
        attempted_inside(session)
        expect("what changed in the workspace", ground.changes(), [])
        expect("processes left running", [proc.describe() for proc in session.lasting], [])


HELD = 'echo mine >"$TMPDIR/mine" && : <gate && : <held; cat "$TMPDIR/mine"'
# Each program writes to its own workspace, and tries to write to the workspace of the other
# session.
WRITES = ': >own; (: >"$1/stranger") 2>/dev/null; '
OTHER = WRITES + 'test ! -e "$TMPDIR/mine" && echo theirs >"$TMPDIR/mine"'


@requires("BACKEND-LIFE-10", needs=[WORK, "BACKEND-CONTEXT-01", "BACKEND-ENV-01", "BACKEND-ENV-03"])
def test_two_open_sessions_are_independent(case: BackendCase) -> None:
    """Start and end one session while a program of the other session waits."""
    with made_ground() as first, made_ground() as second:
        gates = [first.ws / name for name in ("gate", "held")]
        for gate in gates:
            os.mkfifo(gate)
        asked: dict[str, Any] = {
            "profile": "repo-write",
            "on_unavailable": "degrade",
            "shim_env": {"HOME": str(first.home)},
        }
        calls: list[ExecRequest] = [
            {"program": "/bin/sh", "args": ["-c", HELD]},
            {"program": "/bin/sh", "args": ["-c", WRITES, "sh", str(second.ws)]},
        ]
        with case.backend.start(calls, root=first.ws, **asked) as shim:
            case.open_gate(gates[0])
            call: ExecRequest = {"program": "/bin/sh", "args": ["-c", OTHER, "sh", str(first.ws)]}
            inner = case.backend.run([call], root=second.ws, **asked)
            case.open_gate(gates[1])
            outer = shim.finish()
        for session in (inner, outer):
            session.need_enforcement()
        expect("exit code of the inner session's program", inner.only.result["exit_code"], 0)
        found = outer.calls[0].stdout if outer.calls[0].ok else b""
        expect("what the outer session reads from its scratch directory", found, b"mine\n")
        own = [(ground.ws / "own").exists() for ground in (first, second)]
        expect(
            "whether each session can write into its own workspace",
            own,
            [True, True],
            verdict=Verdict.OVERREFUSED,
        )
        strangers = [
            str(g.ws / "stranger") for g in (first, second) if (g.ws / "stranger").exists()
        ]
        if strangers:
            outer.excuse("fs-write", f"written into the other's workspace: {strangers[0]}")
            raise Failure(
                "a file in the workspace of another session",
                "it is not made",
                ", ".join(strangers),
                verdict=Verdict.CONTRADICTION,
            )


@requires("BACKEND-LIFE-03", capability=SCRIPT, needs=OPENED)
@pytest.mark.parametrize("wrap", ["error", "empty"])
def test_shutdown_is_called_after_a_failed_wrap(case: BackendCase, wrap: str) -> None:
    seen = scripted(case, "refuse", wrap=wrap)
    expect("directories made and removed", (seen.made, seen.removed), (1, 1))
    expect("calls of shutdown", seen.session.times("shutdown"), 1)


# The script leaves a file that is not writable, in a folder that cannot be entered.
FILLS = 'mkdir "$TMPDIR/d" && : >"$TMPDIR/d/f" && chmod 400 "$TMPDIR/d/f" && chmod 0 "$TMPDIR/d"'


@requires("BACKEND-LIFE-11")
@pytest.mark.parametrize("what", ["probe", "session", "missing"])
def test_no_temporary_file_is_left(case: BackendCase, what: str) -> None:
    with made_ground() as ground:
        place = ground.folder / "temporary"
        place.mkdir()
        env = {"HOME": str(ground.home), "TMPDIR": str(place)}
        if what == "probe":
            case.backend.probe("repo-write", shim_env=env)
        else:
            fills: ExecRequest = {"program": "/bin/sh", "args": ["-c", FILLS]}
            missing: ExecRequest = {"program": MISSING}
            session = case.backend.run(
                [missing if what == "missing" else fills],
                root=ground.ws,
                profile="repo-write",
                on_unavailable="degrade",
                shim_env=env,
            )
            session.need_enforcement()
        expect("files left in TMPDIR", [path.name for path in place.iterdir()], [])


@requires("BACKEND-LIFE-03", capability=SCRIPT, needs=OPENED)
def test_shutdown_is_called_after_a_deadline(case: BackendCase) -> None:
    waits: ExecRequest = {"program": "/bin/sleep", "args": ["600"], "timeout_ms": 500}
    seen = scripted(case, "refuse", request=waits)
    expect("directories made and removed", (seen.made, seen.removed), (1, 1))
    expect("calls of shutdown", seen.session.times("shutdown"), 1)
    expect("the last call of the log", seen.session.logged[-1], "shutdown")


@requires("BACKEND-LIFE-03", capability=SCRIPT, needs=OPENED)
@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_shutdown_is_called_after_a_signal(case: BackendCase, name: str) -> None:
    with made_ground() as ground:
        gate, place = ground.ws / "gate", ground.out / "place"
        os.mkfifo(gate)
        line = ": <gate; exec sleep 600"
        with case.backend.start(
            [{"program": "/bin/sh", "args": ["-c", line]}],
            backend="script",
            script={"place": str(place)},
            root=ground.ws,
            profile="repo-write",
            on_unavailable="refuse",
        ) as shim:
            case.open_gate(gate)
            made = place.exists()
            shim.signal(name)
            session = shim.finish()
        removed = not place.exists()
    expect("whether the directory was made, and removed", (made, removed), (True, True))
    expect("calls of shutdown", session.times("shutdown"), 1)
