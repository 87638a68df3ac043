"""Mistakes of several kinds.

They are about the state that a module inherits, amounts of input, a second signal, and files with a
second name.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from boxspec.api import HostLacks, NotApplicable, expect, requires, written
from boxspec.api import programs as P
from contracts.module.client import ModuleCase
from contracts.module.judging import (
    end,
    expect_home_gone,
    noted,
    noting_home,
    quoted,
)
from contracts.shared.inherited import UNUSUAL, expect_the_callers
from contracts.shared.moments import until


def reported(case: ModuleCase, **options: Any) -> dict[str, Any]:
    """Return the report of a module about its start."""
    place = case.tmp / "report.json"
    case.module.script("tells", f"exec {quoted(P.report)} {quoted(place)}")
    case.module.execute("tells", [1], **options)
    said: dict[str, Any] = json.loads(noted(place))
    return said


@requires("MODULE-PIPE-06", needs=["MODULE-PIPE-04"])
def test_the_state_of_the_caller_is_inherited(case: ModuleCase) -> None:
    expect_the_callers(case, reported(case, state=UNUSUAL))


@requires("MODULE-PIPE-07")
def test_the_streams_of_a_module_are_blocking(case: ModuleCase) -> None:
    bad = [each["fd"] for each in reported(case)["fds"] if each["nonblock"]]
    expect("descriptors of the module in non-blocking mode", bad, [])


# Lengths of the JSON text: multiples of buffers, and more than a reader may keep.
@requires("MODULE-JSON-01", overlap=1.0, needs=["MODULE-PIPE-01"])
@pytest.mark.parametrize("length", [4096, 65_536, 2**20, 9 * 2**20])
def test_a_text_of_any_length_comes_back(case: ModuleCase, length: int) -> None:
    value = "x" * (length - 2)  # two characters are the quotes
    case.module.script("echoes", "exec cat")
    seen = case.module.execute("echoes", value, within_s=20)
    got = (end(seen), seen.value == value)
    expect("outcome of the module, and whether the text is whole", got, ("value", True))


@requires("MODULE-PARENT-04", overlap=2.0, needs=["MODULE-PARENT-01"])
@pytest.mark.parametrize("names", [("INT", "INT"), ("TERM", "INT"), ("INT", "TERM")], ids="-".join)
def test_a_second_signal_changes_nothing(case: ModuleCase, names: tuple[str, str]) -> None:
    events = case.events()
    rules = "--on INT:exit:0:900 --on TERM:exit:0:900"
    run = f"exec {quoted(P.siglog)} {quoted(events.path)} {rules}"
    case.module.script("tidies", noting_home(case, run))
    with case.module.start("tidies", within_s=20) as shim:
        events.wait("ready", timeout_s=15)
        shim.signal(names[0])
        events.wait("signal")
        shim.signal(names[1])
        seen = shim.finish()
    got = (end(seen), seen.field("signal"), len(events.all("end")))
    wanted = ("Interrupted", f"SIG{names[0]}", 1)
    expect("class, signal, and how often the module ended without being killed", got, wanted)
    expect_home_gone(case, seen)


@requires("MODULE-PARENT-02", needs=["MODULE-RUNNER-02"])
def test_a_module_that_ignores_sigterm_ends_with_a_killed_caller(case: ModuleCase) -> None:
    events = case.events()
    words = "--ignore TERM --ignore INT --ignore HUP"
    case.module.script("stays", f"exec {quoted(P.siglog)} {quoted(events.path)} {words}")
    with case.module.start("stays", expect_result=False) as shim:
        module = events.wait("ready").pid
        shim.signal("KILL")
        shim.wait_exit()
        gone = until(lambda: module not in {p.pid for p in shim.descendants() if p.alive})
    expect("whether the module has ended", gone, True)


NO_LINK = 9


@requires("MODULE-DIR-06", needs=["MODULE-DIR-02"])
def test_a_file_with_a_hard_link_outside_stays_unchanged(case: ModuleCase) -> None:
    """Remove a directory without write permission that contains a hard link to a file outside.

    For that, the mode of the directory must be changed. The mode of the file must stay.
    """
    kept = case.tmp / "kept"
    kept.write_text("x")
    kept.chmod(0o640)
    links = f'mkdir x; ln {quoted(kept)} x/two || exit {NO_LINK}; ln {quoted(kept)} "$HOME/one"'
    case.module.script("links", noting_home(case, f"{links}; chmod 0500 x; echo 1"))
    seen = case.module.execute("links", within_s=15)
    if seen.field("exit_code") == NO_LINK and case.module.inside.name is not None:
        raise NotApplicable("inside this sandbox, a module cannot link to a file outside")
    expect("outcome of the module", end(seen), "value")
    expect_home_gone(case, seen)
    facts = (written(kept).decode(errors="replace"), oct(stat.S_IMODE(kept.stat().st_mode)))
    expect("content and mode of the file", facts, ("x", oct(0o640)))


# Entries that are neither regular files nor directories.
ODD_ENTRIES = {
    "a link to nothing": 'ln -s /boxspec/none "$HOME/link"',
    "a link in a circle": 'ln -s circle "$HOME/circle"',
    "a fifo": 'mkfifo "$HOME/fifo"',
    "a socket": f"{quoted(sys.executable)} -I -S -c "
    "'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")'",
}


@requires("MODULE-DIR-02")
@pytest.mark.parametrize("entry", ODD_ENTRIES)
def test_no_type_of_file_prevents_the_removal(case: ModuleCase, entry: str) -> None:
    case.module.script("makes", noting_home(case, f"{ODD_ENTRIES[entry]} || exit 4; echo 1"))
    seen = case.module.execute("makes", within_s=15)
    if seen.field("exit_code") == 4 and case.module.inside.name is not None:
        raise NotApplicable("inside this sandbox, a module cannot make such a file")
    expect("outcome of the module", end(seen), "value")
    expect_home_gone(case, seen)


@requires("MODULE-DIR-07", needs=["MODULE-DIR-02"])
@pytest.mark.parametrize("put", ['echo x >"$HOME"', 'mkfifo "$HOME"'], ids=["a file", "a fifo"])
def test_a_file_in_place_of_the_directory_is_removed(case: ModuleCase, put: str) -> None:
    case.module.script("swaps", noting_home(case, f'cd /; rm -rf "$HOME"; {put}; echo 1'))
    seen = case.module.execute("swaps", within_s=15)
    left = os.path.lexists(noted(case.tmp / "home"))
    expect(
        "outcome of the module, and whether the file is left", (end(seen), left), ("value", False)
    )


OTHER_UID = 54331


@requires("MODULE-ENV-07", needs=["MODULE-ENV-06"])
def test_after_an_execution_the_caller_is_as_readable_as_before(case: ModuleCase) -> None:
    if os.geteuid() != 0:
        raise HostLacks("root", "only root can start a caller as another user")
    state = ("--uid", str(OTHER_UID))
    case.module.script("answers", "echo 1")
    with case.module.start("answers", state=state, hold=True, expect_result=False) as shim:
        shim.wait_response()
        # If a process is not dumpable, its files in /proc belong to root.
        owner = Path(f"/proc/{shim.shim_pid}/environ").stat().st_uid
        seen = shim.finish()
    if seen.raw is None:
        raise HostLacks("other users", "the shim does not start as another user here")
    with case.idle(*state) as idle:
        usual = Path(f"/proc/{idle.pid}/environ").stat().st_uid
    got = (end(seen), owner)
    expect(
        "outcome of the module, and the owner of the caller's /proc/PID/environ",
        got,
        ("value", usual),
    )
