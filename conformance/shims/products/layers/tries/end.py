"""Show how a library handles streams, results, deadlines, and signals to the caller."""

import os
import re
import resource
import select
import signal
from pathlib import Path

from scene import (
    EVENTUALLY_S,
    LONG_S,
    Call,
    call,
    ended,
    ignoring,
    is_alive,
    opened,
    shell,
    strace,
    tries,
)

# A pipe holds 64 KiB. An argument of the caller may have 128 KiB.
MORE_THAN_A_PIPE = "x" * 100_000


@tries("EXEC-STDIN-06", "EXEC-STDIN-08")
def input_that_nobody_takes():
    told = call(["/bin/true"], input=MORE_THAN_A_PIPE)
    return "error" not in told, told


@tries("EXEC-STDIN-07")
def a_command_that_runs_on_without_its_input():
    os.mkfifo("gate")
    run = Call(shell('exec <&-; read x <"$0"', os.path.abspath("gate")), input=MORE_THAN_A_PIPE)
    gate = opened("gate")
    waits = not run.is_back(LONG_S)
    os.close(gate)
    return waits, {f"the command lives on for {LONG_S} s": waits, "told": run.answer()}


def held(line, **more):
    """Find out whether the library waits for a process that holds its pipes.

    line: a shell command that starts this process.
    """
    os.mkfifo("gate")
    run = Call(shell(line, os.path.abspath("gate")), **more)
    gate = opened("gate")
    waits = not run.is_back(LONG_S)
    os.close(gate)
    told = run.answer()
    return waits, {f"waits {LONG_S} s, and for the holder to end": waits, "told": told}


@tries("EXEC-STDIN-11")
def a_holder_of_stdin():
    line = 'exec 3<&0; sh -c \'read x <"$0"\' "$0" >/dev/null 2>&1 & exit 0'
    return held(line, input=MORE_THAN_A_PIPE)


@tries("EXEC-DRAIN-08")
def a_holder_of_stdout_that_left_the_group():
    return held('setsid sh -c \'read x <"$0"\' "$0" </dev/null & exit 0')


@tries("EXEC-ORPHAN-01")
def a_holder_of_stdout_in_the_group():
    return held('sh -c \'read x <"$0"\' "$0" </dev/null & exit 0')


@tries("EXEC-TIMEOUT-10")
def an_exit_before_the_deadline():
    _, told = held('sh -c \'read x <"$0"\' "$0" </dev/null & exit 0', timeout_ms=1000)
    answer = told["told"]
    return bool(answer.get("late")) or answer.get("code") != 0, told


@tries("EXEC-CAP-01")
def output_above_the_cap():
    os.mkfifo("gate")
    line = 'head -c 1000 /dev/zero; read x <"$0"'
    run = Call(shell(line, os.path.abspath("gate")), cap=10)
    gate = opened("gate")
    waits = not run.is_back(LONG_S)
    os.close(gate)
    return waits, {f"the command lives on for {LONG_S} s": waits, "told": run.answer()}


@tries("EXEC-CAP-03")
def a_character_at_the_cap():
    told = call(shell("printf 'a\\342\\202\\254'"), cap=2)
    return told["out"] != "a", told


@tries("EXEC-RESULT-01")
def the_exit_code_124():
    own, late = call(shell("exit 124"), timeout_ms=20000), call(["/bin/cat"], **past())
    return own == late, {"exit 124": own, "a deadline": late}


def past():
    os.mkfifo("stdin")
    return {"stdin": os.open("stdin", os.O_RDWR), "timeout_ms": 100}


@tries("EXEC-RESULT-02")
def a_death_that_dumps_core_or_has_no_name():
    def setup():
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    dumped, nameless = call(shell("kill -SEGV $$"), setup=setup), call(shell("kill -37 $$"))
    return dumped["err"] != "" or nameless.get("code") == 0, {"SEGV": dumped, "37": nameless}


@tries("EXEC-RESULT-08")
def an_exit_and_a_deadline_in_one_look():
    """Stop the caller while both events happen. When it continues, it notices both at once."""
    os.mkfifo("gate")
    line = 'echo $$ >pid; read x <"$0"; exit 7'
    run = Call(shell(line, os.path.abspath("gate")), timeout_ms=2000)
    gate = opened("gate")
    child = os.pidfd_open(int(Path("pid").read_text()))
    run.run.send_signal(signal.SIGSTOP)
    os.close(gate)
    select.select([child], [], [], EVENTUALLY_S)
    select.select([], [], [], 2.5)  # sleep until the deadline has passed
    run.run.send_signal(signal.SIGCONT)
    told = run.answer()
    return told.get("code") != 7 or bool(told.get("late")), told


@tries("EXEC-TIMEOUT-04")
def a_timeout_of_zero():
    told = call(["/bin/sleep", "1"], timeout_ms=0)
    return not told.get("late"), told


@tries("EXEC-TIMEOUT-05")
def a_very_long_timeout():
    told = call(["/bin/sleep", "1"], timeout_ms=2**31)
    if told.get("code") == 0:
        told = call(["/bin/sleep", "1"], timeout_ms=2**63 - 1)
    return told.get("code") != 0, told


@tries("EXEC-WAIT-03")
def wake_ups_of_an_idle_wait():
    os.mkfifo("gate")
    run = Call(shell('read x <"$0"', os.path.abspath("gate")), timeout_ms=60_000)
    gate = opened("gate")
    before = wake_ups(run.run.pid)
    waits = not run.is_back(LONG_S)
    after = wake_ups(run.run.pid) if waits else before
    os.close(gate)
    told = run.answer()
    return after - before > 12 * LONG_S, {f"in {LONG_S} s": after - before, "told": told}


def wake_ups(pid):
    """Count how often the threads of a process have gone to sleep."""
    found = [file.read_text() for file in Path(f"/proc/{pid}/task").glob("*/status")]
    words = [re.search(r"^voluntary_ctxt_switches:\s+(\d+)$", text, re.M) for text in found]
    return sum(int(word[1]) for word in words)


@tries("EXEC-WAIT-04")
def a_code_that_nobody_has():
    told = call(shell("exit 7"), setup=ignoring(signal.SIGCHLD))
    return "error" not in told and told["code"] != 7, told


@tries("EXEC-WAIT-05")
def sigchld_is_ignored():
    told = call(shell(": >started; exit 7"), setup=ignoring(signal.SIGCHLD))
    started = Path("started").exists()
    return started or "error" not in told, {"a command was started": started, "told": told}


def signaled(number, setup=None):
    """Send the caller a signal, and release the child. Return the answer, and the states of
    both."""
    os.mkfifo("gate")
    line = 'echo $$ >pid; read x <"$0"; exit 0'
    run = Call(shell(line, os.path.abspath("gate")), setup=setup)
    gate = opened("gate")
    pid = int(Path("pid").read_text())
    run.run.send_signal(number)
    run.is_back(LONG_S)
    alive = is_alive(pid)
    os.close(gate)
    told = run.answer()
    ended(pid)
    return told, {"told": told, "the child lived on": alive, "the caller": run.run.returncode}


@tries("EXEC-SIGNAL-01")
def a_sigterm_to_the_caller():
    told, seen = signaled(signal.SIGTERM)
    return told is None, seen


@tries("EXEC-SIGNAL-02")
def a_sigint_to_the_caller():
    told, seen = signaled(signal.SIGINT)
    return told is None, seen


@tries("EXEC-SIGNAL-10")
def a_sigterm_that_the_caller_ignores():
    told, seen = signaled(signal.SIGTERM, ignoring(signal.SIGTERM))
    return told is None or told.get("code") == 0, seen


@tries("EXEC-SIGNAL-13")
def a_handler_that_cannot_be_installed():
    run = Call(["/bin/true"], before=strace("rt_sigaction"))
    told = run.answer()
    return told is None, {"told": told, "the caller": run.run.returncode, "said": run.said[-80:]}
