"""PROCESS-CHILD-03 and PROCESS-OPEN-08: the search for a program follows the same rules as in
exec."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Unpack

import pytest

from boxspec.api import expect, requires, satisfies
from contracts.process.client import ProcessCase, RequestFields, ScriptOptions
from contracts.process.judging import carried_out
from contracts.shared.lookup import RELATIVE, TOOL, saying, unusable_candidate

HOW = pytest.mark.parametrize("how", ["script", "bridge"])
NOT_STARTED = "not started"


def said(
    case: ProcessCase,
    how: str,
    program: str,
    *folders: Path | str,
    current_dir: str | None = None,
    **run: Unpack[ScriptOptions],
) -> str:
    """Return the output of the program that is found by a PATH with these folders."""
    pairs = [["PATH", ":".join(map(str, folders))]] if folders else []
    fields: RequestFields = {"env": {"clear_and_set": pairs}}
    if current_dir is not None:
        fields["current_dir"] = current_dir
    error, printed = carried_out(case, how, program, fields=fields, **run)
    if error is not None:
        return NOT_STARTED if error["kind"] == "execution" else f"error {error['kind']}"
    return str(printed.decode("utf-8", "replace")).strip()


@requires("PROCESS-CHILD-03", needs=["PROCESS-OPEN-03"])
@HOW
def test_a_bare_name_is_searched_in_the_path_of_the_child(case: ProcessCase, how: str) -> None:
    saying(case.tmp / "caller" / TOOL, "the caller's")
    saying(case.tmp / "child" / TOOL, "the child's")
    (case.tmp / "empty").mkdir()
    caller = {"PATH": f"{case.tmp}/caller:{os.environ['PATH']}"}
    got = [said(case, how, TOOL, case.tmp / at, shim_env=caller) for at in ("child", "empty")]
    expect("the run with the program in PATH, and without", got, ["the child's", NOT_STARTED])


@requires("PROCESS-CHILD-03", needs=["PROCESS-OPEN-03"])
@HOW
def test_without_a_path_the_systems_default_is_searched(case: ProcessCase, how: str) -> None:
    saying(case.tmp / "caller" / TOOL, "the caller's")
    caller = {"PATH": f"{case.tmp}/caller:{os.environ['PATH']}"}
    empty: RequestFields = {"env": {"clear_and_set": []}}
    found, _ = carried_out(case, how, "true", fields=empty, shim_env=caller)
    got = (found, said(case, how, TOOL, shim_env=caller))
    expect(
        "the run of `true`, and of a tool that only the caller's PATH has", got, (None, NOT_STARTED)
    )


@requires("PROCESS-CHILD-03")
@HOW
@pytest.mark.parametrize("what", ["missing", "directory", "0644", "dangling", "file-for-folder"])
def test_candidates_that_cannot_be_executed_are_skipped(
    case: ProcessCase, how: str, what: str
) -> None:
    first = unusable_candidate(case.tmp, what)
    for name in ("two", "three"):
        saying(case.tmp / name / TOOL, name)
    got = said(case, how, TOOL, first, case.tmp / "two", case.tmp / "three")
    expect("which program ran", got, "two")


@requires("PROCESS-CHILD-03")
@HOW
@pytest.mark.parametrize("vector", RELATIVE)
def test_relative_names_are_relative_to_current_dir(
    case: ProcessCase, how: str, vector: str
) -> None:
    for place in ("caller", "current"):
        saying(case.tmp / place / "bin" / TOOL, f"in {place}")
        saying(case.tmp / place / f"{TOOL}-top", f"in {place}")
    program, entries = RELATIVE[vector]
    state = ["--cwd", str(case.tmp / "caller")]
    current = str(case.tmp / "current")
    got = said(case, how, program, entries, state=state, current_dir=current)
    expect("which program ran", got, "in current")


@requires("PROCESS-CHILD-03", needs=["PROCESS-OPEN-03"])
@HOW
def test_the_working_directory_is_searched_where_path_says_so(case: ProcessCase, how: str) -> None:
    saying(case.tmp / "current" / TOOL, "in current")
    (case.tmp / "bin").mkdir()
    saying(case.tmp / "bin" / "sub" / TOOL, "in PATH")
    here = str(case.tmp / "current")
    got = [
        said(case, how, TOOL, case.tmp / "bin", current_dir=here),
        said(case, how, TOOL, case.tmp / "bin", ".", current_dir=here),
        said(case, how, f"sub/{TOOL}", case.tmp / "bin", current_dir=here),
    ]
    wanted = [NOT_STARTED, "in current", NOT_STARTED]
    expect("PATH without a dot, PATH with a dot, and a name with a slash", got, wanted)


@requires("PROCESS-OPEN-08", needs=["PROCESS-CHILD-03"])
@HOW
@pytest.mark.parametrize("number", [errno.EACCES, errno.ENOENT], ids=["EACCES", "ENOENT"])
def test_the_reason_says_whether_a_candidate_existed(
    case: ProcessCase, how: str, number: int
) -> None:
    for name in ("one", "two"):
        (case.tmp / name).mkdir()
    if number == errno.EACCES:
        saying(case.tmp / "one" / TOOL, "not executable", mode=0o644)
    pairs = [["PATH", f"{case.tmp}/one:{case.tmp}/two"]]
    error, _ = carried_out(case, how, TOOL, fields={"env": {"clear_and_set": pairs}})
    names = (os.strerror(number).lower(), errno.errorcode[number].lower())

    def named(text: str) -> bool:
        return any(name in text.lower() for name in names)

    wanted = satisfies(named, f"a text with the reason: {os.strerror(number)}")
    expect("the message", str((error or {}).get("message", "")), wanted)
