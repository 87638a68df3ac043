"""Tests with --backend, for requirements whose conditions a launcher changes (see inside.yaml)."""

from __future__ import annotations

import base64
import os
from collections import Counter
from pathlib import Path

import pytest

from boxspec.api import NotMeasured, ShimProcess, expect, requires, satisfies, written
from boxspec.api import programs as P
from boxspec.subject.observe import procs
from contracts.exec.answers import ObservedBatch
from contracts.exec.client import ExecCase, Run
from contracts.exec.moments import attempted, expect_none_left, open_gate_for_all, settled, until
from contracts.exec.spawn_io import of_another_user, outcome, report, shell
from contracts.exec.test_env import ODD, PAIRS, entries
from contracts.exec.test_kill_bounds import ENDS
from contracts.exec.test_kill_refused import CALLER, becomes_roots
from contracts.exec.test_orphan import AWAY, leave_orphan
from contracts.shared.callers import many_descriptors
from contracts.shared.requests import ExecRequest, Limits

HERE = "exec.backend"
# `inherit` passes on exactly these names, and names that consist of LC_ and a category.
PASSED_ON = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE")


def variables(found: dict[str, object]) -> dict[bytes, bytes]:
    listed = found["env_b64"]
    assert isinstance(listed, list)
    pairs = (base64.b64decode(entry).partition(b"=") for entry in listed)
    return {name: value for name, _, value in pairs}


# The group and the session -----------------------------------------------------------------------


@requires("EXEC-CHILD-01", capability=HERE, inside=True)
def test_inside_the_whole_group_ends_at_a_deadline(case: ExecCase) -> None:
    # The launcher leads the group. A deadline must still end the program and all members.
    events = case.events()
    script = f'"{P.slow_exit}" "$0" 60000 & exec "{P.slow_exit}" "$0" 60000'
    seen = case.exec.run(
        program="/bin/sh", args=["-c", script, events.path], timeout_ms=700, within_s=20
    )
    settled(events, count=2)
    expect_none_left(seen, events, ready=2)


@requires("EXEC-CHILD-02", capability=HERE, inside=True)
def test_inside_the_session_is_not_the_callers(case: ExecCase) -> None:
    events, fifo = case.events(), case.fifo("gate")
    with case.exec.start(program=P.gate, args=[events.path, str(fifo)]) as shim:
        child = events.wait("ready").pid
        sessions = os.getsid(child), os.getsid(shim.shim_pid)
        case.open_gate(fifo)
        shim.finish()
    expect("the child is in the caller's session", sessions[0] == sessions[1], False)


@requires("EXEC-CHILD-11", capability=HERE, inside=True)
def test_inside_no_new_privs_is_set(case: ExecCase) -> None:
    seen = case.exec.run(program="/bin/sh", args=["-c", "cat /proc/self/status"])
    expect("no_new_privs of the child", b"\nNoNewPrivs:\t1\n" in seen.stdout, True)


@requires("EXEC-CHILD-09", capability=HERE, inside=True)
@pytest.mark.parametrize("count", ["one", "many"])
def test_inside_no_descriptor_above_2_is_open(case: ExecCase, count: str) -> None:
    kept = case.tmp / "kept"
    kept.write_text("x")
    found = report(
        case, state=["--leave-open", f"9={kept}"] if count == "one" else many_descriptors()
    )
    got = [(each["fd"], each["target"]) for each in found["fds"] if each["fd"] > 2]
    expect("descriptors above 2 in the child, with their targets", got, [])


@requires("EXEC-KILL-15", capability=HERE, inside=True)
def test_inside_no_program_becomes_another_users(case: ExecCase) -> None:
    # Inside, a set-user-ID program keeps the user of its caller. So the caller can signal it, and
    # it exits with 65.
    seen = case.exec.run(
        program=becomes_roots(case),
        args=[P.exit_with, "0"],
        state=["--uid", str(CALLER)],
        expect_result=False,
    )
    got = outcome(of_another_user(seen))
    expect("how a set-user-ID program ended", got, "exit 65")


# The environment ---------------------------------------------------------------------------------


@requires("EXEC-ENV-01", capability=HERE, inside=True)
def test_inside_inherit_passes_only_the_listed_names(case: ExecCase) -> None:
    more = {"TZ": "UTC", "LANGUAGE": "en", "LC_TIME": "C", "LC_": "x", **ODD}
    got = variables(report(case, env="inherit", shim_env=more))
    strange = [
        name
        for name in map(os.fsdecode, got)
        if name not in PASSED_ON and not (name.startswith("LC_") and len(name) > 3)
    ]
    missing = [name for name in ("PATH", "TZ", "LANGUAGE", "LC_TIME") if name.encode() not in got]
    expect(
        "names that are not on the list, and names of the list that are missing",
        (strange, missing),
        ([], []),
    )


@requires("EXEC-ENV-02", capability=HERE, inside=True)
@pytest.mark.parametrize("vector", PAIRS)
def test_inside_clear_and_set_adds_only_a_private_tmpdir(case: ExecCase, vector: str) -> None:
    got = variables(report(case, env=PAIRS[vector], shim_env={"BOXSPEC_CALLER": "1"}))
    private = got.pop(b"TMPDIR", b"")
    listed = sorted(name + b"=" + value for name, value in got.items())
    expect("the child's environment without TMPDIR", listed, entries(PAIRS[vector]))
    expect("TMPDIR", private, satisfies(lambda value: value.startswith(b"/"), "an absolute path"))


@requires("EXEC-ENV-03", capability=HERE, inside=True)
def test_inside_only_the_last_of_duplicate_names_arrives(case: ExecCase) -> None:
    got = variables(report(case, env=[("AB", "1"), ("A", "2"), ("AB", "3"), ("TMPDIR", "/own")]))
    private = got.pop(b"TMPDIR", b"/own")
    expect("the child's environment without TMPDIR", got, {b"A": b"2", b"AB": b"3"})
    expect("the sandbox's own TMPDIR wins", private != b"/own", True)


@requires("EXEC-ENV-04", capability=(HERE, "exec.bytes"), inside=True)
def test_inside_pairs_that_are_not_utf8_arrive_unchanged(case: ExecCase) -> None:
    pairs: list[tuple[str | bytes, str | bytes]] = [(b"RAW\xff", b"\xff\x80 \xc0"), ("A", "1")]
    got = variables(report(case, env=pairs))
    got.pop(b"TMPDIR", None)
    expect(
        "the child's environment without TMPDIR", got, {b"RAW\xff": b"\xff\x80 \xc0", b"A": b"1"}
    )


# Streams -----------------------------------------------------------------------------------------


@requires("EXEC-STDIN-01", capability=HERE, inside=True)
def test_inside_a_regular_file_arrives_as_a_pipe(case: ExecCase) -> None:
    # Through /proc the child could open the file again for writing.
    source = case.folder / "source"
    source.write_bytes(b"0123456789")
    line = "test -f /dev/stdin && echo file; cat; echo x 2>/dev/null >/proc/self/fd/0; exit 5"
    seen = case.exec.run(**shell(line), stdin_file=source)
    expect(
        "how the child ended, the bytes that it read, and the file afterwards",
        (outcome(seen), seen.stdout, written(source)),
        ("exit 5", b"0123456789", b"0123456789"),
    )


@requires("EXEC-STDIN-01", capability=HERE, inside=True)
def test_inside_a_pipe_arrives_as_another_pipe(case: ExecCase) -> None:
    # Through /proc the child could open the pipe again for writing, and other readers would get its
    # data.
    reader, writer = os.pipe()
    line = "test -p /dev/stdin && echo pipe; cat; echo x 2>/dev/null >/proc/self/fd/0; exit 5"
    try:
        os.write(writer, b"0123456789")
        os.close(writer)
        seen = case.exec.run(**shell(line), shim_stdin=reader)
        left = os.read(reader, 100)
    finally:
        os.close(reader)
    got = (outcome(seen), seen.stdout, left)
    expect(
        "how the child ended, the bytes that it read, and the bytes left in the pipe",
        got,
        ("exit 5", b"pipe\n0123456789", b""),
    )


# Processes outside the group ---------------------------------------------------------------------


@pytest.mark.parametrize("how", AWAY)
@requires("EXEC-ORPHAN-04", capability=HERE, inside=True)
def test_inside_a_helper_that_left_the_group_ends_with_the_run(case: ExecCase, how: str) -> None:
    seen = leave_orphan(case, "--keep", "none", *AWAY[how], code=4)
    expect("exit_code", seen.result["exit_code"], 4)
    expect_none_left(seen, case.events(), orphan=1)


@pytest.mark.parametrize("how", AWAY)
@requires("EXEC-ORPHAN-06", capability=HERE, inside=True)
def test_inside_a_caller_that_is_a_subreaper_adopts_no_process(case: ExecCase, how: str) -> None:
    events = case.events()
    args = [events.path, "--keep", "none", *AWAY[how]]
    with case.exec.start(
        program=P.orphan, args=args, stdin="null", state=["--subreaper"], hold=True, within_s=8
    ) as shim:
        shim.wait_response()
        attempted(events, orphan=1)
        left = [each.describe() for each in shim.children()]
        shim.release()
        shim.finish()
    expect("children of the caller after the run", left, [])


@requires("EXEC-DRAIN-09", capability=(HERE, "exec.termination"), inside=True)
def test_inside_detached_writers_is_false(case: ExecCase) -> None:
    events = case.events()
    seen = case.exec.run(program=P.orphan, args=[events.path, "--setsid", "--keep", "out"])
    attempted(events, orphan=1)
    expect("detached_writers", seen.result["detached_writers"], False)


@pytest.mark.parametrize("shown", [[], ["--hidden"]], ids=["shown", "hidden"])
@pytest.mark.parametrize("stream", ["out", "err"])
@requires("EXEC-ORPHAN-07", capability=(HERE, "exec.termination"), inside=True)
def test_inside_the_result_tells_that_a_writer_outside_of_the_group_was_killed(
    case: ExecCase, stream: str, shown: list[str]
) -> None:
    # A hidden process is not dumpable, so its descriptors in /proc cannot be read.
    seen = leave_orphan(case, "--setsid", "--keep", stream, *shown, code=7)
    attempted(case.events(), orphan=1)
    got = (seen.result["exit_code"], seen.result.get("killed_writers"))
    expect("exit_code and killed_writers", got, (7, True))


# Concurrent runs ---------------------------------------------------------------------------------


def with_launchers(shim: ShimProcess[ObservedBatch], word: str) -> set[int]:
    """Return the process with this word in its command line, and all processes between it and the
    caller."""
    tree = shim.tree()
    named = [each.pid for each in tree if word.encode() in each.cmdline]
    return {each for pid in named for each in procs.lineage(pid, tree)}


@pytest.mark.parametrize("first", [0, 1], ids=["the_first", "the_last"])
@requires("EXEC-CONC-01", capability=(HERE, "exec.concurrent"), inside=True)
def test_inside_a_run_ends_while_another_one_waits(case: ExecCase, first: int) -> None:
    # Each run has its own launchers, which are reaped when its program ends. Processes above both
    # runs do not count, for example a server that starts children.
    gates = [(case.events(name), case.fifo(f"open-{name}")) for name in ("a", "b")]
    runs: list[Run] = [
        {"program": P.gate, "args": [events.path, str(fifo)]} for events, fifo in gates
    ]
    with case.exec.start_batch(runs, within_s=15) as shim:
        for events, _ in gates:
            events.wait("ready", timeout_s=8)
        both = [with_launchers(shim, str(fifo)) for _, fifo in gates]
        ends, waits = both[first] - both[1 - first], both[1 - first] - both[first]
        if not ends or not waits:
            raise NotMeasured("the two programs are not visible as descendants of the caller")
        case.open_gate(gates[first][1])
        gates[first][0].wait("end")
        until(lambda: not ends & {each.pid for each in shim.tree()}, 5)
        left = {each.pid for each in shim.tree()}
        case.open_gate(gates[1 - first][1])
        shim.finish()
    expect(
        "whether the run that ended, and the one that waits, still have processes",
        [bool(ends & left), bool(waits & left)],
        [False, True],
    )


@requires("EXEC-CONC-07", capability=(HERE, "exec.concurrent"), inside=True)
def test_inside_each_run_has_its_own_directory(case: ExecCase) -> None:
    other = case.exec.place / "other"
    other.mkdir()
    events, fifo = case.events(), case.fifo("open")
    # All three run at the same time, and print their working directory after the gate has opened.
    line = f'"{P.gate}" "$0" "$1"; pwd -P'
    here: ExecRequest = {"program": "/bin/sh", "args": ["-c", line, events.path, str(fifo)]}
    there: ExecRequest = {**here, "current_dir": str(other)}
    with case.exec.start_batch([here, there, here], within_s=15) as shim:
        for _ in range(3):
            events.wait("ready", timeout_s=8)
        open_gate_for_all(fifo, lambda: bool(shim.children()))
        places = [Path(run.stdout.decode().strip()) for run in shim.finish().runs]
    expect("working directories of the runs", places, [case.exec.place, other, case.exec.place])


# Signals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("why", ["deadline", "TERM", "INT"])
@requires("EXEC-KILL-10", capability=HERE, inside=True, overlap=0.8)
def test_inside_each_sender_sends_the_first_signal_once(case: ExecCase, why: str) -> None:
    # The caller signals the launcher, and the launcher signals the processes that the caller cannot
    # reach. With --trace-kill no signal reaches a program in a pid namespace. In that case only the
    # program's own log is checked.
    traced = "namespaces" not in case.exec.inside.parts
    events, name = case.events(), "TERM" if why == "deadline" else why
    deadline: Limits = {"timeout_ms": 700} if why == "deadline" else {}
    with case.exec.start(
        program=P.siglog,
        args=[events.path, "--on", f"{name}:exit:0:400"],
        state=["--trace-kill"] if traced else [],
        expect_result=False,
        within_s=20,
        **deadline,
    ) as shim:
        events.wait("ready")
        if why != "deadline":
            shim.signal(why)
        shim.finish()
        sent = shim.warden.kills() if traced else []
    attempted(events, signal=1)
    logged = [event.rest for event in events.all("signal") if event.rest == [name]]
    # The trace does not contain the signals that the kit itself sends to the caller.
    by = Counter(kill.sender for kill in sent if kill.name == name and kill.sender != kill.target)
    got = (logged, by[shim.shim_pid], max(by.values(), default=0)) if traced else (logged, 1, 1)
    expect(
        f"signals that the program got; SIG{name}s sent by the caller; most from one process",
        got,
        ([[name]], 1, 1),
        {"sent": sent},
    )


@pytest.mark.parametrize("how", ENDS)
@requires("EXEC-KILL-11", capability=HERE, inside=True, overlap=0.5)
def test_inside_the_callers_group_is_sent_no_signal(case: ExecCase, how: str) -> None:
    # Launchers end their own groups. The caller may signal groups of launchers, never its own group
    # or all processes.
    program, words, more = ENDS[how]
    args = words.replace("EVENTS", case.events().path).split()
    with case.exec.start(program=program, args=args, state=["--trace-kill"], **more) as shim:
        seen = shim.finish()
        sent = shim.warden.kills()
    own = [kill for kill in sent if kill.sender == shim.shim_pid and abs(kill.target) <= 1]
    own += [kill for kill in sent if abs(kill.target) == shim.shim_pid]
    expect(
        "signals sent to the caller itself or to all processes",
        own,
        [],
        {"sent": sent, "outcome": outcome(seen)},
    )
