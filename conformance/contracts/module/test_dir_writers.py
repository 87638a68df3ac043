"""MODULE-DIR-04: the removal of a directory to which a process still writes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from boxspec.api import (
    HostLacks,
    Late,
    NotApplicable,
    expect,
    expect_within,
    for_the_prompt,
    requires,
)
from boxspec.api import programs as P
from contracts.module.client import Executed, ModuleCase
from contracts.module.judging import (
    REMOVE_MS,
    end,
    filling,
    noted,
    noting_home,
    quoted,
)
from contracts.shared.moments import elapsed_ms, until


@requires("MODULE-DIR-04", overlap=1.5, needs=["MODULE-TIME-02"])
def test_a_directory_that_is_left_is_reported(case: ModuleCase) -> None:
    ready = case.fifo("writing")
    case.module.script("fills", noting_home(case, filling(ready, 500)))
    seen: Executed = case.module.execute("fills", within_s=15)
    home = Path(noted(case.tmp / "home"))
    expect("outcome of the module", end(seen), "value")
    told = seen.result.get("directory_left")
    expect(
        "the reported directory, and the directory that is left",
        told,
        str(home) if home.is_dir() else None,
    )


def expect_not_held_up(case: ModuleCase, seen: Executed) -> None:
    ended = case.events().wait("end")
    limit = REMOVE_MS + 5 * case.tick_ms
    expect_within(case, "from the module's end to the shim's", ended.cause, seen.end, limit)


def ends(case: ModuleCase) -> str:
    """Return a script for a module that logs its own end."""
    return f"echo 1\nexec {quoted(P.slow_exit)} {quoted(case.events().path)} 0"


# There are so many names that one pass over the directory misses files that are created meanwhile.
PILE = """
import os, sys, time
ready, ms, slow_exit, events = sys.argv[1:]
for number in range(5000):
    open(f"first-{number}", "x").close()
open(ready, "w").close()
number, until = 0, time.monotonic() + int(ms) / 1000
while time.monotonic() < until:
    try:
        open(f"late-{number}", "x").close()
    except FileNotFoundError:
        break
    number += 1
    time.sleep(0.001)
os.execv(slow_exit, [slow_exit, events, "0"])
"""


# The writer stops this long after creating the files, which is just before the end of the module.
# If the writer stopped later, a second might be too short for the clean-up.
STOPS_MS, STOPPED_MS = 400, 800


@requires("MODULE-DIR-04", overlap=1.5, needs=["MODULE-TIME-02"])
def test_removal_is_repeated_until_a_writer_stops(case: ModuleCase) -> None:
    ready, stopped = case.fifo("writing"), case.events("stopped")
    words = [Path(sys.executable).resolve(), "-I", "-S", "-c", PILE]
    words += [ready, STOPS_MS, P.slow_exit, stopped.path]
    pile = f"setsid {' '.join(map(quoted, words))} </dev/null >/dev/null 2>&1 &"
    body = f"{pile}\nread -r line <{quoted(ready)}\n{ends(case)}"
    case.module.script("piles", noting_home(case, body))
    # The test creates and removes thousands of files, which takes long on a busy machine.
    with case.module.start("piles", within_s=60) as shim:
        seen = shim.finish()
        until(lambda: bool(stopped.all("end")), 5)
    expect("outcome of the module", end(seen), "value")
    left = Path(noted(case.tmp / "home")).is_dir()
    last = [event.t_ns for event in stopped.all("end")]
    ended = case.events().all("end")[0]
    if left and (not last or elapsed_ms(ended.t_ns, last[0]) > STOPPED_MS):
        raise Late(
            "a process that the module started", f"it stops within {STOPPED_MS} ms", "it writes"
        )
    with for_the_prompt(case):
        got = (left, seen.result.get("directory_left"))
        expect("whether the directory is left, and the reported one", got, (False, None))
    expect_not_held_up(case, seen)


WRITER = """
setsid sh -c 'echo >"$0"
    while :; do mkdir -p "$HOME/again"; echo x >"$HOME/again/f"; done' {ready} \\
    </dev/null >/dev/null 2>&1 &
read -r line <{ready}
{ends}
"""


@requires("MODULE-DIR-04", overlap=1.5)
def test_a_surviving_writer_does_not_delay_the_return(case: ModuleCase) -> None:
    ready = case.fifo("writing")
    body = WRITER.format(ready=quoted(ready), ends=ends(case))
    case.module.script("leaves", noting_home(case, body))
    seen: Executed = case.module.execute("leaves", within_s=15)
    home = Path(noted(case.tmp / "home"))
    # `mkdir -p` may create the directory again at any time. So the test does not check whether the
    # directory exists; it only checks a directory that the result reports.
    told = seen.result.get("directory_left")
    expect("outcome of the module", end(seen), "value")
    expect("the reported directory, if there is one", told in (None, str(home)), True)
    expect_not_held_up(case, seen)


# Make a file that not even root can remove. FS_IOC_SETFLAGS sets FS_IMMUTABLE_FL.
STUCK = """
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDONLY | os.O_CREAT, 0o600)
try:
    fcntl.ioctl(fd, 0x40086602, int(sys.argv[2]).to_bytes(8, sys.byteorder))
except OSError:
    sys.exit(3)
"""
IMMUTABLE = 0x10


def setting(place: object, flags: int) -> list[str]:
    """Return a command that sets the flags of a file."""
    python = str(Path(sys.executable).resolve())
    return [python, "-I", "-S", "-c", STUCK, str(place), str(flags)]


@requires("MODULE-DIR-04", overlap=1.5)
@pytest.mark.parametrize("where", ["stuck", "a/b/stuck"])
def test_a_file_that_cannot_be_removed_does_not_delay_the_return(
    case: ModuleCase, where: str
) -> None:
    if os.geteuid() != 0:
        raise HostLacks("root", "only root can make a file immutable")
    body = f'{" ".join(map(quoted, setting(where, IMMUTABLE)))} || echo >"$HOME/movable"'
    move = f'[ ! -e "$HOME/movable" ] || : >{quoted(case.tmp / "movable")}'
    case.module.script("sticks", noting_home(case, f"{body}\n{move}\n{ends(case)}"))
    try:
        seen: Executed = case.module.execute("sticks", within_s=15)
    finally:
        home = Path(noted(case.tmp / "home"))
        # An implementation may have moved the file.
        for stuck in [*home.rglob("stuck")]:
            subprocess.run(setting(stuck, 0), check=False)
        shutil.rmtree(home, ignore_errors=True)
    if (case.tmp / "movable").exists():
        raise NotApplicable("here a module cannot make a file immutable")
    got = (end(seen), seen.result.get("directory_left"))
    expect("outcome of the module, and the reported directory", got, ("value", str(home)))
    expect_not_held_up(case, seen)
