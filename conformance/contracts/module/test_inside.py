"""Tests in a sandbox that replace tests whose conditions a launcher changes (see inside.yaml)."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from boxspec.api import expect, requires, satisfies
from boxspec.api import programs as P
from contracts.module.client import ModuleCase
from contracts.module.judging import end, quoted

HERE = "module.backend"


@requires("MODULE-ENV-03", capability=HERE, inside=True)
@pytest.mark.parametrize("home", [None, "/boxspec/no/such/home"])
def test_inside_home_and_working_directory_are_the_same_directory(
    case: ModuleCase, home: str | None
) -> None:
    # HOME is the module's directory even if the caller's own home does not exist.
    case.module.script("says", 'printf \'["%s","%s","%s"]\' "$HOME" "$(pwd -P)" "$TMPDIR"')
    seen = case.module.execute("says", shim_env={} if home is None else {"HOME": home})
    expect("outcome of the module", end(seen), "value")
    at_home, place, scratch = cast(list[str], seen.value)
    fresh = str((case.tmp / "directories").resolve())
    expect(
        "HOME, and whether the working directory is in the fresh directory",
        (at_home, place.startswith(f"{fresh}/")),
        (place, True),
    )
    private = satisfies(lambda path: path.startswith("/") and path != place, "another directory")
    expect("TMPDIR", scratch, private)


@requires("MODULE-RUNNER-02", capability=HERE, inside=True)
def test_inside_the_runner_is_the_module(case: ModuleCase) -> None:
    fifo, events = case.fifo("gate"), case.events()
    run = f"exec {quoted(P.gate)} {quoted(events.path)} {quoted(fifo)} --out 1"
    case.module.script("waits", run)
    with case.module.start("waits") as shim:
        module = events.wait("ready").pid
        executable = Path(f"/proc/{shim.shim_pid}/exe").readlink()
        same = [each.pid for each in shim.tree() if _executes(each.pid, executable)]
        is_there = module in {each.pid for each in shim.tree()}
        case.open_gate(fifo)
        seen = shim.finish()
    got = (end(seen), is_there, same)
    wanted: tuple[str, bool, list[int]] = ("value", True, [])
    expect(
        "outcome of the module, whether it runs, and processes that execute the runner",
        got,
        wanted,
    )


def _executes(pid: int, program: Path) -> bool:
    try:
        return Path(f"/proc/{pid}/exe").readlink() == program
    except OSError:
        return False
