"""Show which members of a command's process group a library leaves after a deadline or an exit."""

import ctypes
import os
import shutil
from functools import partial
from pathlib import Path

from scene import NOBODY, TRIES, Call, NotTried, call, ended, is_alive, shell, tries

# A call with a deadline of 1 s and a grace period of 5 s must return within 10 s. The command would
# live for 60 s.
WAITED_S, ALIVE_S = 10, 60
HOLDER = 'sh -c \'read x <"$0"\' "$0" </dev/null >/dev/null 2>&1'
STOPPED = "sh -c 'kill -STOP $$' </dev/null >/dev/null 2>&1 & echo $!\n"
STOPPED += "until grep -q ') T ' /proc/$!/stat; do sleep 0.05; done"
LINES = {
    "EXEC-ORPHAN-02": f"trap '' TERM HUP; {HOLDER} & echo $!",
    "EXEC-ORPHAN-03": f"({HOLDER} & echo $!)",
    "EXEC-ORPHAN-05": STOPPED,
}


def orphan(line):
    """Find out whether an orphan that has closed the pipes outlives the call."""
    os.mkfifo("gate")
    pid = int(call(shell(line, os.path.abspath("gate")))["out"])
    alive = is_alive(pid)
    ended(pid)
    return alive, {"the orphan is alive when the library has returned": alive}


for name, line in LINES.items():
    TRIES[name] = partial(orphan, line)


@tries("EXEC-ORPHAN-06")
def an_orphan_of_a_caller_that_collects():
    """Find out which process reaps an orphan that ends before the command.

    If the caller has not reaped it, this process becomes its parent.
    """
    os.mkfifo("gate")
    line = "(sh -c 'read x <gate' </dev/null & echo $!) >pid; read pid <pid; echo $pid; : >gate\n"
    line += "until test ! -e /proc/$pid || grep -q ') Z ' /proc/$pid/stat; do sleep 0.05; done"
    pid = int(call(shell(line), setup=subreaper)["out"])
    try:
        left = os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        left = False
    return left, {"the orphan is not collected when the library has returned": left}


def subreaper():
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)


def past_its_deadline(leader, member):
    """Run a group past a deadline. Return the answer, and the pid of the member."""
    told = call(shell(leader, member), timeout_ms=3000)
    if not Path("ready").exists():
        raise NotTried("the group was not set up before its deadline")
    return told, int(Path("pid").read_text())


@tries("EXEC-KILL-01")
def who_gets_the_signal_of_a_deadline():
    member = 'trap "echo member >>log; exit" TERM; : >ready; while :; do sleep 0.1; done'
    leader = 'trap "echo leader >>log; exit" TERM; sh -c "$0" >/dev/null 2>&1 & echo $! >pid; wait'
    told, pid = past_its_deadline(leader, member)
    file = Path("log")
    log = file.read_text().split() if file.exists() else []
    ended(pid)
    return "member" not in log, {"got SIGTERM": log, "told": told}


@tries("EXEC-KILL-13")
def a_member_that_ignores_the_signal():
    member = "echo $$ >pid; read x <gate"
    leader = 'trap "" TERM; sh -c "$0" </dev/null >/dev/null 2>&1 & trap - TERM; wait'
    os.mkfifo("gate")
    told = call(shell(leader, member), timeout_ms=2000)
    if not Path("pid").exists():
        raise NotTried("the member was not set up before the deadline")
    pid = int(Path("pid").read_text())
    alive = is_alive(pid)
    ended(pid)
    return alive, {"alive when the library has returned": alive, "told": told}


@tries("EXEC-KILL-03")
def a_member_that_needs_the_grace():
    member = 'trap "sleep 1; : >finished; exit" TERM; : >ready; while :; do sleep 0.1; done'
    leader = 'sh -c "$0" </dev/null >/dev/null 2>&1 & echo $! >pid; wait'
    told, pid = past_its_deadline(leader, member)
    finished = Path("finished").exists()
    alive = is_alive(pid)
    ended(pid)
    words = {"alive when the library has returned": alive, "had its second": finished}
    return alive or not finished, {**words, "told": told}


@tries("EXEC-KILL-07")
def a_stopped_command():
    line = "trap ': >acted; exit' TERM; : >ready; kill -STOP $$; while :; do sleep 0.1; done"
    told = call(shell(line), timeout_ms=2000)
    if not Path("ready").exists():
        raise NotTried("the command was not stopped before its deadline")
    acted = Path("acted").exists()
    return not acted, {"it acted on its SIGTERM": acted, "told": told}


@tries("EXEC-KILL-15")
def a_command_of_another_user():
    """Run a command that becomes root. Its unprivileged caller cannot signal it."""
    os.chmod(".", 0o777)
    shutil.copy(shutil.which("setpriv"), "become")
    os.chmod("become", 0o4755)
    line = f"echo $$ >pid; exec ./become --reuid=0 sleep {ALIVE_S}"
    run = Call(shell(line), before=NOBODY, timeout_ms=1000)
    waits = not run.is_back(WAITED_S)
    pid = int(Path("pid").read_text())
    if waits and "\nUid:\t0\t0\t" not in Path(f"/proc/{pid}/status").read_text():
        raise NotTried("the command did not become root's")
    ended(pid)
    return waits, {f"waits {WAITED_S} s, and for the command to end": waits, "told": run.answer()}
