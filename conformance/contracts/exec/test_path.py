"""EXEC-PATH: the search for a program by a name without a slash."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Unpack

import pytest

from boxspec.api import expect, requires, satisfies
from contracts.exec.client import ExecCase, RunOptions
from contracts.exec.spawn_io import (
    SPAWN_FAILURE,
    message,
    names_reason,
    needs_replaced_environment,
    outcome,
)
from contracts.shared.files import script_at
from contracts.shared.lookup import RELATIVE, TOOL, saying, unusable_candidate


def path(*folders: Path | str) -> list[tuple[str, str]]:
    """Return an environment for the child that has only PATH."""
    return [("PATH", ":".join(map(str, folders)))]


def output_of(case: ExecCase, **run: Unpack[RunOptions]) -> str:
    """Run, and return the output of the program that was found, or a text about the failure."""
    seen = case.exec.run(**run)
    return seen.stdout.decode().strip() if seen.ok else outcome(seen)


@requires("EXEC-PATH-01", pitfalls=["A14"])
def test_a_bare_name_is_looked_up_in_the_childs_path(case: ExecCase) -> None:
    saying(case.tmp / "caller" / TOOL, "the caller's")
    saying(case.tmp / "child" / TOOL, "the child's")
    got = output_of(
        case,
        program=TOOL,
        env=path(case.tmp / "child"),
        shim_env={"PATH": f"{case.tmp}/caller:{os.environ['PATH']}"},
    )
    expect("which program ran", got, "the child's")


@requires("EXEC-PATH-01", pitfalls=["A14"])
def test_a_name_that_only_the_callers_path_has_is_not_found(case: ExecCase) -> None:
    saying(case.tmp / "caller" / TOOL, "the caller's")
    (case.tmp / "child").mkdir()
    caller = {"PATH": f"{case.tmp}/caller:{os.environ['PATH']}"}
    refused = output_of(case, program=TOOL, env=path(case.tmp / "child"), shim_env=caller)
    inherited = output_of(case, program=TOOL, shim_env=caller)
    expect(
        "the run with a PATH of the child, and with the caller's PATH",
        (refused, inherited),
        (SPAWN_FAILURE, "the caller's"),
    )


@requires("EXEC-PATH-01", pitfalls=["A20"])
def test_a_path_that_is_given_twice_is_the_one_that_the_child_has(case: ExecCase) -> None:
    for name in ("first", "last"):
        saying(case.tmp / name / TOOL, name)
    got = output_of(case, program=TOOL, env=[*path(case.tmp / "first"), *path(case.tmp / "last")])
    expect("which program ran", got, "last")


@requires("EXEC-PATH-02", pitfalls=["A15"])
@pytest.mark.parametrize("pairs", [[], [("A", "1")]], ids=["empty", "without-path"])
def test_without_a_path_the_systems_default_is_searched(
    case: ExecCase, pairs: list[tuple[str, str]]
) -> None:
    seen = case.exec.run(program="sh", args=["-c", "echo found"], env=pairs)
    expect(
        "the run of `sh`, which is searched for without a PATH",
        (outcome(seen), seen.stdout),
        ("exit 0", b"found\n"),
    )


@requires("EXEC-PATH-02", pitfalls=["A15"])
def test_without_a_path_the_callers_is_not_searched(case: ExecCase) -> None:
    needs_replaced_environment(case)
    saying(case.tmp / "caller" / TOOL, "the caller's")
    caller = {"PATH": f"{case.tmp}/caller:{os.environ['PATH']}"}
    expect(
        "the run of a tool that is only in the caller's PATH",
        output_of(case, program=TOOL, env=[], shim_env=caller),
        SPAWN_FAILURE,
    )


@requires("EXEC-PATH-03")
def test_the_first_candidate_wins(case: ExecCase) -> None:
    saying(case.tmp / "one" / TOOL, "first")
    saying(case.tmp / "two" / TOOL, "second")
    got = output_of(case, program=TOOL, env=path(case.tmp / "one", case.tmp / "two"))
    expect("which program ran", got, "first")


SKIPPED = ["missing", "directory", "0644", "dangling", "fifo", "loop"]
# Entries of PATH that cannot be searched.
SKIPPED += ["no-folder", "file-for-folder", "loop-for-folder", "too-long-a-folder"]


@requires("EXEC-PATH-03")
@pytest.mark.parametrize("what", SKIPPED)
def test_a_candidate_that_cannot_be_executed_is_skipped(case: ExecCase, what: str) -> None:
    first = unusable_candidate(case.tmp, what)
    saying(case.tmp / "two" / TOOL, "second")
    got = output_of(case, program=TOOL, env=path(first, case.tmp / "two"), within_s=10)
    expect("which program ran", got, "second")


@requires("EXEC-PATH-03")
@pytest.mark.parametrize("mode", [0o655, 0o601], ids=oct)
def test_the_system_decides_whether_a_candidate_is_executable(case: ExecCase, mode: int) -> None:
    # Only the permission bits for the caller's class count. For root any of the three execute bits
    # is enough.
    candidate = case.tmp / "one" / TOOL
    saying(candidate, "first", mode=mode)
    saying(case.tmp / "two" / TOOL, "second")
    direct = output_of(case, program=str(candidate))
    got = output_of(case, program=TOOL, env=path(candidate.parent, case.tmp / "two"))
    runs = {"first": "first", SPAWN_FAILURE: "second"}.get(direct, direct)
    expect(
        "which program ran, compared with a start of the first one by its path",
        got,
        runs,
        {"mode": mode},
    )


@requires("EXEC-PATH-03")
def test_a_candidate_without_its_interpreter_ends_the_search(case: ExecCase) -> None:
    first = case.tmp / "one" / TOOL
    saying(first, "first")
    saying(case.tmp / "two" / TOOL, "second")
    folders = path(case.tmp / "one", case.tmp / "two")
    control = output_of(case, program=TOOL, env=folders)
    script_at(first, "", first="#!/no/such/interpreter\n")
    got = output_of(case, program=TOOL, env=folders)
    expect(
        "the run of the script with its interpreter, and without",
        (control, got),
        ("first", SPAWN_FAILURE),
    )


@requires("EXEC-PATH-03")
@pytest.mark.parametrize("before", [1, 100, 1000])
def test_a_path_is_searched_to_its_end(case: ExecCase, before: int) -> None:
    saying(case.tmp / "last" / TOOL, "last")
    missing = [f"/no/such/folder/of/many/{number}" for number in range(before)]
    got = output_of(case, program=TOOL, env=path(*missing, case.tmp / "last"))
    expect(f"which program ran, after {before} missing folders", got, "last")


@requires("EXEC-PATH-04", needs=["EXEC-PATH-01", "EXEC-SPAWN-09"])
@pytest.mark.parametrize(
    ("exists", "reason"), [(True, errno.EACCES), (False, errno.ENOENT)], ids=["EACCES", "ENOENT"]
)
def test_the_reason_says_whether_a_candidate_existed(
    case: ExecCase, exists: bool, reason: int
) -> None:
    (case.tmp / "one").mkdir()
    if exists:
        saying(case.tmp / "one" / TOOL, "not executable", mode=0o644)
    (case.tmp / "two").mkdir()
    text = message(case.exec.run(program=TOOL, env=path(case.tmp / "one", case.tmp / "two")))
    expect(
        "the message of the error",
        text,
        satisfies(lambda got: names_reason(reason, got), f"the reason {os.strerror(reason)}"),
    )


def expect_relative_to(case: ExecCase, vector: str, current: Path, current_dir: str) -> None:
    """Start a tool by a relative name. The tool is in the caller's directory and in `current`."""
    for place in (case.tmp / "caller", current):
        saying(place / "bin" / TOOL, f"in {place.name}")
        saying(place / f"{TOOL}-top", f"in {place.name}")
    program, entries = RELATIVE[vector]
    got = output_of(
        case,
        program=program,
        env=path(entries),
        current_dir=current_dir,
        state=["--cwd", str(case.tmp / "caller")],
    )
    expect("which program ran", got, f"in {current.name}")


@requires("EXEC-PATH-05", pitfalls=["A12", "A17"], needs=["EXEC-PATH-01"])
@pytest.mark.parametrize("vector", RELATIVE)
def test_relative_names_and_entries_are_relative_to_current_dir(
    case: ExecCase, vector: str
) -> None:
    current = case.tmp / "current"
    expect_relative_to(case, vector, current, str(current))


@requires("EXEC-PATH-05", pitfalls=["A12"], needs=["EXEC-PATH-01"])
@pytest.mark.parametrize("vector", RELATIVE)
def test_names_and_entries_are_relative_to_a_relative_current_dir(
    case: ExecCase, vector: str
) -> None:
    # `current` is relative to the caller's directory. If an implementation changes the directory
    # and resolves `current/…` after that, it finds no program.
    expect_relative_to(case, vector, case.tmp / "caller" / "current", "current")


@requires("EXEC-PATH-05", pitfalls=["A12"], needs=["EXEC-PATH-01"])
@pytest.mark.parametrize(
    ("program", "entries"), [(f"../{TOOL}", "/nowhere"), (TOOL, "..")], ids=["name", "entry"]
)
def test_the_system_resolves_the_parent_of_a_linked_current_dir(
    case: ExecCase, program: str, entries: str
) -> None:
    # current_dir is a symbolic link. So `link/..` is not the directory that a pure text operation
    # would give.
    saying(case.tmp / TOOL, "beside the link")
    saying(case.tmp / "real" / TOOL, "above the folder")
    (case.tmp / "real" / "folder").mkdir()
    (case.tmp / "link").symlink_to("real/folder")
    place = str(case.tmp / "link")
    got = output_of(case, program=program, env=path(entries), current_dir=place)
    expect("which program ran", got, "above the folder")


@requires("EXEC-PATH-05", needs=["EXEC-PATH-01"], pitfalls=["A12"])
def test_entries_of_the_callers_path_are_relative_to_current_dir_too(case: ExecCase) -> None:
    for place in ("caller", "current"):
        saying(case.tmp / place / "bin" / TOOL, f"in {place}")
    got = output_of(
        case,
        program=TOOL,
        shim_env={"PATH": f"bin:{os.environ['PATH']}"},
        current_dir=str(case.tmp / "current"),
        state=["--cwd", str(case.tmp / "caller")],
    )
    expect("which program ran", got, "in current")


@requires("EXEC-PATH-05", needs=["EXEC-PATH-01"])
def test_a_tilde_in_path_is_not_expanded(case: ExecCase) -> None:
    saying(case.tmp / "home" / "bin" / TOOL, "at home")
    saying(case.tmp / "current" / "~" / "bin" / TOOL, "in current")
    env = [*path("~/bin"), ("HOME", str(case.tmp / "home"))]
    got = output_of(case, program=TOOL, env=env, current_dir=str(case.tmp / "current"))
    expect("which program ran", got, "in current")


@requires("EXEC-PATH-05", needs=["EXEC-PATH-01"])
@pytest.mark.parametrize("entry", [" bin ", "{tmp}/current/ bin ", "bin\n"])
def test_blanks_at_the_ends_of_an_entry_are_kept(case: ExecCase, entry: str) -> None:
    place = entry.removeprefix("{tmp}/current/")
    saying(case.tmp / "current" / place / TOOL, "with blanks")
    saying(case.tmp / "current" / place.strip() / TOOL, "without blanks")
    env, current = path(entry.format(tmp=case.tmp)), str(case.tmp / "current")
    got = output_of(case, program=TOOL, env=env, current_dir=current)
    expect("which program ran", got, "with blanks")


@requires("EXEC-PATH-05", pitfalls=["A12"])
def test_a_name_with_a_slash_is_not_searched(case: ExecCase) -> None:
    saying(case.tmp / "bin" / "sub" / TOOL, "in PATH")
    (case.tmp / "current").mkdir()
    got = output_of(
        case,
        program=f"sub/{TOOL}",
        env=path(case.tmp / "bin"),
        current_dir=str(case.tmp / "current"),
    )
    expect("which program ran", got, SPAWN_FAILURE)


# A slash at the end means a directory. Functions that normalise a path drop this slash.
SLASHES = {
    "an absolute name": ("{current}/" + TOOL, "/"),
    "two slashes": ("{current}/" + TOOL, "//"),
    "a relative name": (f"./{TOOL}", "/"),
    "a name in the directory": (TOOL, "/"),
    "a name in PATH": (f"{TOOL}-in-path", "/"),
    "a link": ("./link", "/"),
}


@requires("EXEC-PATH-06", needs=["EXEC-PATH-01"])
@pytest.mark.parametrize("what", SLASHES)
def test_a_slash_at_the_end_of_a_name_is_not_dropped(case: ExecCase, what: str) -> None:
    current = case.tmp / "current"
    saying(current / TOOL, "in current")
    saying(case.tmp / "bin" / f"{TOOL}-in-path", "in PATH")
    (current / "link").symlink_to(TOOL)
    name, slash = SLASHES[what]
    program = name.format(current=current)
    ran, refused = (
        output_of(case, program=each, env=path(case.tmp / "bin", "."), current_dir=str(current))
        for each in (program, f"{program}{slash}")
    )
    expect(
        "the run of the name with a slash at its end, and whether the name without it ran",
        (refused, ran.startswith("in ")),
        (SPAWN_FAILURE, True),
    )


@requires("EXEC-PATH-05", pitfalls=["A17"], needs=["EXEC-PATH-01"])
def test_the_working_directory_is_not_searched_unless_path_says_so(case: ExecCase) -> None:
    saying(case.tmp / "current" / TOOL, "in current")
    (case.tmp / "bin").mkdir()
    place = str(case.tmp / "current")
    refused = output_of(case, program=TOOL, env=path(case.tmp / "bin"), current_dir=place)
    allowed = output_of(case, program=TOOL, env=path(case.tmp / "bin", "."), current_dir=place)
    expect(
        "which program ran, without and with a dot in PATH",
        (refused, allowed),
        (SPAWN_FAILURE, "in current"),
    )
