"""Mistakes of several kinds.

They are about closed outputs and signals, large limits, `..` after links, descriptors in a grace
period, and a second child at the terminal.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from boxspec.api import expect, for_the_prompt, requires, written
from boxspec.api import programs as P
from contracts.exec.answers import ObservedRun
from contracts.exec.client import BatchOptions, ExecCase, Run
from contracts.exec.moments import pass_time, settled
from contracts.exec.spawn_io import outcome, shell, shell_request
from contracts.exec.test_stdin_terminal import AT_TERMINAL, READ_A_LINE, made_terminal
from contracts.shared.files import script_at
from contracts.shared.requests import Command, ExecRequest

CLOSED = pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])


def closing(case: ExecCase, closed: str, *rules: str) -> Command:
    """Return a run whose child closes streams and then waits for signals."""
    return shell(f'exec {closed}; exec "$@"', P.siglog, case.events().path, *rules)


@requires("EXEC-SIGNAL-01", overlap=0.5)
@CLOSED
def test_a_signal_reaches_a_child_that_closed_its_streams(case: ExecCase, closed: str) -> None:
    events = case.events()
    with case.exec.start(**closing(case, closed, "--on", "TERM:exit:0"), within_s=20) as shim:
        events.wait("ready")
        # Wait until the caller sleeps, so that only the signal wakes it.
        pass_time(2 * case.tick_ms)
        shim.signal("TERM")
        seen = shim.finish()
    got = (seen.result["exit_code"], len(events.all("end")))
    expect("exit_code, and how often the child ended without being killed", got, (143, 1))


@requires("EXEC-KILL-02", overlap=1.8, needs=["EXEC-KILL-01"])
@CLOSED
def test_a_child_that_closed_its_streams_has_the_grace(case: ExecCase, closed: str) -> None:
    rules = ("--on", "TERM:exit:0:700", "--members", "1", "--member-on", "TERM:exit:0:900")
    seen = case.exec.run(**closing(case, closed, *rules), timeout_ms=900, within_s=20)
    settled(case.events(), member=1)
    ended = len({event.pid for event in case.events().all("end")})
    got = (seen.result["success"], ended)
    expect("success, and processes that ended without being killed", got, (False, 2))


@requires("EXEC-CAP-02", capability="exec.cap")
@pytest.mark.parametrize("cap", [2**31, 2**32, 2**32 + 1, 2**63, 2**64 - 1])
def test_a_large_cap_is_not_reached(case: ExecCase, cap: int) -> None:
    seen = case.exec.run(program=P.flood, args=["100000", "0"], max_output_bytes=cap)
    expect(
        "how the child ended, and length of stdout",
        (outcome(seen), seen.stdout_len),
        ("exit 0", 100_000),
    )


def behind_a_link(case: ExecCase) -> Path:
    """Return `way/..`, where `way` is a link into `real`. The system resolves this path to
    `real`."""
    (case.tmp / "real" / "deep").mkdir(parents=True)
    (case.tmp / "way").symlink_to("real/deep")
    script_at(case.tmp / "tool", "echo beside the link")
    script_at(case.tmp / "real" / "tool", "echo where the link leads")
    return case.tmp / "way" / ".."


@requires("EXEC-REQUEST-05")
def test_dots_after_a_link_in_current_dir_lead_where_the_link_leads(case: ExecCase) -> None:
    place = behind_a_link(case)
    seen = case.exec.run(program="/bin/sh", args=["-c", "exec ./tool"], current_dir=str(place))
    expect("which program ran", seen.stdout, b"where the link leads\n")


@requires("EXEC-PATH-05")
@pytest.mark.parametrize("relative", [True, False], ids=["relative", "absolute"])
def test_dots_after_a_link_in_a_program_lead_where_the_link_leads(
    case: ExecCase, relative: bool
) -> None:
    tool = f"{behind_a_link(case)}/tool"
    program = "way/../tool" if relative else tool
    seen: ObservedRun = case.exec.run(program=program, current_dir=str(case.tmp))
    expect("which program ran", seen.stdout, b"where the link leads\n")


@requires("EXEC-REQUEST-05")
def test_a_directory_named_like_a_home_is_a_directory(case: ExecCase) -> None:
    (case.tmp / "~").mkdir()
    (case.tmp / "~" / "witness").touch()
    (case.tmp / "$HOME").mkdir()
    names = [
        case.exec.run(program="/bin/ls", current_dir=name, state=["--cwd", str(case.tmp)]).stdout
        for name in ("~", "$HOME")
    ]
    expect("what the child sees in `~` and in `$HOME`", names, [b"witness\n", b""])


@requires("EXEC-CHILD-04", capability="exec.concurrent", overlap=1.8)
def test_a_child_that_starts_in_the_grace_of_another_run_has_only_0_1_and_2(case: ExecCase) -> None:
    """Start a child during the grace period of another run.

    An implementation may hold a descriptor of each process for which it waits; the child must not
    get it.
    """
    events, place = case.events(), case.tmp / "report"
    rules = ["--on", "TERM:exit:0", "--members", "1", "--member-on", "TERM:exit:0:900"]
    ending: ExecRequest = {"program": P.siglog, "args": [events.path, *rules], "timeout_ms": 600}
    starting: ExecRequest = {"program": P.report, "args": [str(place)]}
    seen = case.exec.batch([(0, ending), (1000, starting)], within_s=20)
    settled(events, member=1)
    expect("how the child ended", outcome(seen.runs[1]), "exit 0")
    fds = [each["fd"] for each in json.loads(written(place).decode(errors="replace"))["fds"]]
    expect("the child's descriptors", fds, [0, 1, 2])


# The runs between two runs that read from the terminal, by name.
BETWEEN: dict[str, ExecRequest] = {
    "a deadline": shell_request("exec sleep 30") | {"timeout_ms": 200},
    "its own signal": shell_request("kill -KILL $$"),
    "a failed spawn": {"program": "/boxspec/no/such"},
}
GAP_MS = 900


@requires("EXEC-CONC-07", capability="exec.concurrent", overlap=4.0, needs=["EXEC-STDIN-16"])
def test_a_later_child_reads_the_terminal_as_the_first_one_did(case: ExecCase) -> None:
    reads = shell_request(READ_A_LINE)
    runs = [reads, *BETWEEN.values(), reads]
    timed: list[Run] = [(n * GAP_MS, AT_TERMINAL | run) for n, run in enumerate(runs)]
    with made_terminal() as terminal:
        options: BatchOptions = terminal.options | {"within_s": 20}
        with case.exec.start_batch(timed, **options) as shim:
            terminal.type(b"words\nwords\n")
            seen = shim.finish()
    first, last = seen.runs[0], seen.runs[-1]
    # On a busy machine two of the runs may be active at the same time.
    with for_the_prompt(case):
        got = (outcome(last), last.stdout)
        expect("how the last run ended, and its output", got, (outcome(first), first.stdout))
