"""The state in which a program starts inside, and its arguments."""

import hashlib
import os
import signal

import pytest

from boxspec.api import expect, requires, written
from boxspec.programs import programs
from contracts.backend.client import BackendCase
from contracts.backend.ground import made_ground
from contracts.backend.reports import arguments, report
from contracts.shared.files import program_at
from contracts.shared.inherited import STATE, UNUSUAL, Part, expect_the_callers
from contracts.shared.requests import ExecRequest
from contracts.shared.signals import expect_the_three_at_default, ignoring

# bubblewrap(1) always unblocks SIGCHLD, because it waits for its children.
MAY_DIFFER = {signal.SIGCHLD}
BLOCKED = STATE["blocked signals"]
PARTS = {
    **STATE,
    "blocked signals": Part(
        lambda report: sorted({*BLOCKED.of_child(report)} - MAY_DIFFER),
        sorted({*BLOCKED.wanted} - MAY_DIFFER),
        lambda idle: sorted({*BLOCKED.of_shim(idle)} - MAY_DIFFER),
    ),
}


@requires("BACKEND-LAUNCH-14")
@pytest.mark.parametrize("profile", ["repo-write", "ci-only"])
def test_a_program_starts_in_the_state_of_the_caller(case: BackendCase, profile: str) -> None:
    with made_ground() as ground:
        found = report(case, ground, profile=profile, state=UNUSUAL)
    expect_the_callers(case, found, parts=PARTS)


@requires("BACKEND-LAUNCH-14")
def test_three_signals_are_at_their_default_inside(case: BackendCase) -> None:
    with made_ground() as ground:
        found = report(case, ground, state=ignoring("INT", "TERM", "PIPE"))
    expect_the_three_at_default(found)


@requires("BACKEND-LAUNCH-07")
def test_a_program_gets_the_name_that_the_request_gives_it(case: BackendCase) -> None:
    with made_ground() as ground:
        program = program_at(ground.ws / "report", programs.report)
        name = f"./{program.name}"
        found = report(case, ground, call={"program": name})
    expect("the first word that the program gets", arguments(found)[0], name)


@requires("BACKEND-LAUNCH-07")
def test_a_bare_name_is_looked_up_in_the_path_of_the_request(case: BackendCase) -> None:
    with made_ground() as ground:
        folder = ground.ws / "bin"
        folder.mkdir()
        # The caller's PATH contains another program of this name.
        program_at(folder / "env", programs.report)
        call: ExecRequest = {"program": "env", "env": [("PATH", f"{folder}:/usr/bin:/bin")]}
        found = report(case, ground, call=call)
    expect("the first word that the program gets", arguments(found)[0], "env")


# More than a pipe holds, and no multiple of a size of buffers.
LARGE = bytes(range(256)) * 12_000 + b"end"


@requires("BACKEND-LAUNCH-08")
@pytest.mark.parametrize("way", ["bytes", "inherit"])
def test_a_large_stdin_arrives_complete(case: BackendCase, way: str) -> None:
    with made_ground() as ground:
        given = ground.ws / "given"
        given.write_bytes(LARGE)
        stdin: bytes | str = LARGE if way == "bytes" else "inherit"
        session = case.backend.run(
            [{"program": "/bin/sh", "args": ["-c", "cat >got"], "stdin": stdin}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
            shim_stdin=given,
        )
        session.need_enforcement()
        got = written(ground.ws / "got")
    expect("length and whether the bytes are equal", (len(got), got == LARGE), (len(LARGE), True))


@requires("BACKEND-LAUNCH-08", needs=["BACKEND-LIFE-02"])
def test_a_call_continues_a_file_on_stdin_where_the_call_before_stopped(case: BackendCase) -> None:
    """Read a file on stdin in two calls. Without a sandbox, the calls share the offset of the
    file."""
    with made_ground() as ground:
        given = ground.ws / "given"
        given.write_text("one\ntwo\nthree\n")
        call: ExecRequest = {"program": "/bin/sh", "stdin": "inherit"}
        session = case.backend.run(
            [call | {"args": ["-c", line]} for line in ("read -r l; echo $l", "cat")],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
            shim_stdin=given,
        )
        session.need_enforcement()
        found = [call.stdout for call in session.calls]
    expect("what the programs read", found, [b"one\n", b"two\nthree\n"])


@requires("BACKEND-LAUNCH-14")
def test_a_file_that_a_program_makes_is_the_callers(case: BackendCase) -> None:
    with made_ground() as ground:
        session = case.backend.run(
            [{"program": "/bin/sh", "args": ["-c", ": >file-made; mkdir folder-made"]}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        )
        session.need_enforcement()
        owners = [(ground.ws / name).stat().st_uid for name in ("file-made", "folder-made")]
    isolation = case.session.isolation
    caller = os.geteuid() if isolation is None else isolation.uid
    expect("owners of the file and the directory", owners, [caller, caller])


# Each line names its stream.
WRITES = "seq -f 'out %g' 200000; seq -f 'err %g' 190000 >&2"


@requires("BACKEND-LAUNCH-16")
def test_both_outputs_arrive_unchanged(case: BackendCase) -> None:
    with made_ground() as ground:
        session = case.backend.run(
            [{"program": "/bin/sh", "args": ["-c", WRITES]}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        )
        session.need_enforcement()
        call = session.only
    found = [(call.stdout_len, call.stdout_sha256), (call.stderr_len, call.stderr_sha256)]
    wanted = [_lines("out", 200_000), _lines("err", 190_000)]
    expect("length and digest of stdout and of stderr", found, wanted)


def _lines(word: str, most: int) -> tuple[int, str]:
    text = "".join(f"{word} {number}\n" for number in range(1, most + 1)).encode()
    return len(text), hashlib.sha256(text).hexdigest()
