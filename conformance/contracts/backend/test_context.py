"""The working directory of a program, and contexts whose fields contradict each other."""

import os
from pathlib import Path
from typing import Unpack

import pytest

from boxspec.api import expect, requires
from contracts.backend.client import BackendCase, SessionOptions
from contracts.backend.ground import Ground, made_ground
from contracts.backend.reports import report
from contracts.shared.requests import ExecRequest


def _refused(
    case: BackendCase,
    ground: Ground,
    call: ExecRequest | None = None,
    **context: Unpack[SessionOptions],
) -> None:
    """Fail unless the session is refused as invalid_input.

    Other tests run the valid counterpart.
    """
    request: ExecRequest = {"program": "/bin/true"}
    asked: SessionOptions = {"root": ground.ws, "profile": "repo-write"}
    asked["on_unavailable"] = "degrade"
    session = case.backend.run([request | (call or {})], **(asked | context))
    expect("the kind of the error", session.error["kind"], "invalid_input")


def _folder(ground: Ground, name: str) -> Path:
    made = ground.ws / name
    made.mkdir()
    return made


@requires("BACKEND-CONTEXT-01")
def test_a_program_starts_in_the_root(case: BackendCase) -> None:
    with made_ground() as ground:
        expect("the working directory", report(case, ground)["cwd"], str(ground.ws))


@requires("BACKEND-CONTEXT-02")
def test_a_program_starts_in_the_cwd(case: BackendCase) -> None:
    with made_ground() as ground:
        folder = _folder(ground, "sub")
        expect("the working directory", report(case, ground, cwd=str(folder))["cwd"], str(folder))


# Spellings of a directory of the root, below the root.
SPELLINGS = ("link/inner", "sub/inner/", "sub/./inner", "sub/../sub/inner", "loop/sub/inner")


def _spelled(ground: Ground) -> Path:
    """Make a directory in the root, which each of SPELLINGS names."""
    folder = _folder(ground, "sub")
    (ground.ws / "link").symlink_to("sub")
    (ground.ws / "loop").symlink_to(ground.ws)
    return _folder(ground, f"{folder.name}/inner")


@requires("BACKEND-CONTEXT-02")
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_cwd_inside_may_have_any_spelling(case: BackendCase, spelling: str) -> None:
    with made_ground() as ground:
        folder = _spelled(ground)
        found = report(case, ground, cwd=f"{ground.ws}/{spelling}")
        expect("the working directory", found["cwd"], str(folder))


@requires("BACKEND-CONTEXT-03")
@pytest.mark.parametrize("way", ["plain", "dots", "link", "prefix", "descriptor"])
def test_a_cwd_outside_is_refused(case: BackendCase, way: str) -> None:
    with made_ground() as ground:
        sibling = ground.ws.with_name(f"{ground.ws.name}2")
        sibling.mkdir()
        ways = {
            "plain": str(ground.out),
            "dots": f"{ground.ws}/{ground.out_from_ws}",
            "link": str(ground.ws / "planted"),
            "prefix": str(sibling),
            "descriptor": "/proc/self/cwd",
        }
        _refused(case, ground, cwd=ways[way])


@requires("BACKEND-CONTEXT-03")
@pytest.mark.parametrize("way", ["plain", "dots", "link", "prefix"])
def test_a_current_dir_outside_is_refused(case: BackendCase, way: str) -> None:
    with made_ground() as ground:
        sibling = ground.ws.with_name(f"{ground.ws.name}2")
        sibling.mkdir()
        ways = {
            "plain": ground.out,
            "dots": f"{ground.ws}/{ground.out_from_ws}",
            "link": ground.ws / "planted",
            "prefix": sibling,
        }
        _refused(case, ground, call={"current_dir": str(ways[way])})


@requires("BACKEND-CONTEXT-01", needs=["BACKEND-CONTEXT-04", "BACKEND-LIFE-02"])
def test_the_current_dir_of_a_call_is_not_that_of_the_next_one(case: BackendCase) -> None:
    with made_ground() as ground:
        folder = _folder(ground, "sub")
        session = case.backend.run(
            [{"program": "/bin/pwd", "current_dir": str(folder)}, {"program": "/bin/pwd"}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        )
        session.need_enforcement()
        found = [call.stdout.decode().strip() for call in session.calls]
        expect("working directories of the calls", found, [str(folder), str(ground.ws)])


@requires("BACKEND-CONTEXT-02", needs=["BACKEND-LIFE-02", "BACKEND-ALLOW-01"])
def test_a_call_whose_directory_was_removed_does_not_start_elsewhere(case: BackendCase) -> None:
    with made_ground() as ground:
        folder = _folder(ground, "sub")
        lines = ("rmdir ../sub", ": >ran")
        session = case.backend.run(
            [{"program": "/bin/sh", "args": ["-c", line]} for line in lines],
            root=ground.ws,
            cwd=folder,
            profile="repo-write",
            on_unavailable="degrade",
        )
        session.need_enforcement()
        expect("whether the directory is there", folder.exists(), False)
        found = [str(path) for path in ground.ws.rglob("ran")]
        expect("files that the later call made", found, [])


# Names that a shell or a parser of options would change.
DIRECTORIES = (
    "two  words ",
    " x",
    "a\nb\n",
    "-x",
    "$HOME",
    "*",
    "a\\b",
    "é",
    "e\u0301",
    "'",
    "x" * 255,
)


@requires("BACKEND-CONTEXT-04", needs=["BACKEND-LIFE-02"])
def test_the_directory_of_a_call_may_have_any_name(case: BackendCase) -> None:
    with made_ground() as ground:
        folders = [_folder(ground, name) for name in DIRECTORIES]
        session = case.backend.run(
            [{"program": "/bin/pwd", "current_dir": str(folder)} for folder in folders],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        )
        session.need_enforcement()
        found = [call.stdout if call.ok else call.error for call in session.calls]
        wanted = [str(folder).encode() + b"\n" for folder in folders]
        expect("the working directories", found, wanted)


@requires("BACKEND-CONTEXT-04")
def test_the_current_dir_of_a_call_is_its_cwd(case: BackendCase) -> None:
    with made_ground() as ground:
        folder = _folder(ground, "sub")
        call: ExecRequest = {"current_dir": str(folder)}
        expect("the working directory", report(case, ground, call=call)["cwd"], str(folder))


@requires("BACKEND-CONTEXT-04")
def test_a_current_dir_other_than_the_cwd_is_refused(case: BackendCase) -> None:
    with made_ground() as ground:
        first, second = _folder(ground, "first"), _folder(ground, "second")
        _refused(case, ground, call={"current_dir": str(first)}, cwd=str(second))


@requires("BACKEND-CONTEXT-04")
def test_a_current_dir_below_a_named_cwd_is_refused(case: BackendCase) -> None:
    with made_ground() as ground:
        folder = _folder(ground, "sub")
        _refused(case, ground, call={"current_dir": str(folder)}, cwd=str(ground.ws))


@requires("BACKEND-CONTEXT-04", needs=["BACKEND-LIFE-02"])
def test_a_current_dir_other_than_the_cwd_is_refused_in_a_later_call(case: BackendCase) -> None:
    with made_ground() as ground:
        first, second = _folder(ground, "first"), _folder(ground, "second")
        call = ExecRequest(program="/bin/true", current_dir=str(first))
        session = case.backend.run(
            [call, call | {"current_dir": str(second)}],
            root=ground.ws,
            profile="repo-write",
            cwd=str(first),
            on_unavailable="degrade",
        )
        expect("the kind of the error", session.error["kind"], "invalid_input")


@requires("BACKEND-CONTEXT-04")
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_current_dir_may_spell_the_cwd_in_another_way(case: BackendCase, spelling: str) -> None:
    with made_ground() as ground:
        folder = _spelled(ground)
        call: ExecRequest = {"current_dir": f"{ground.ws}/{spelling}"}
        found = report(case, ground, call=call, cwd=str(folder))
        expect("the working directory", found["cwd"], str(folder))


@requires("BACKEND-CONTEXT-05")
@pytest.mark.parametrize("name", ["missing", "file"])
def test_a_root_that_is_no_directory_is_refused(case: BackendCase, name: str) -> None:
    with made_ground() as ground:
        _refused(case, ground, root=str(ground.ws / name))


@requires("BACKEND-CONTEXT-05")
@pytest.mark.parametrize("target", ["missing", "file", "link"])
def test_a_root_that_leads_to_no_directory_is_refused(case: BackendCase, target: str) -> None:
    """`link` leads to itself."""
    with made_ground() as ground:
        (ground.ws / "link").symlink_to(target)
        _refused(case, ground, root=str(ground.ws / "link"))


def _root_through_links(ground: Ground, way: str) -> str:
    """Return a path that leads to the root: a link, or a path with a link above the root."""
    link = ground.folder / "link"
    match way:
        case "a link":
            link.symlink_to(ground.ws)
        case "a link to a link":
            (ground.folder / "second").symlink_to(ground.ws)
            link.symlink_to("second")
        case "a relative link":
            link.symlink_to(os.path.relpath(ground.ws, ground.folder))
        case _:
            link.symlink_to(ground.ws.parent)
            return f"{link}/{ground.ws.name}"
    return str(link)


@requires("BACKEND-CONTEXT-06")
@pytest.mark.parametrize(
    "way", ["a link", "a link to a link", "a relative link", "a link above the root"]
)
def test_a_root_through_a_link_is_where_it_leads(case: BackendCase, way: str) -> None:
    with made_ground() as ground:
        root = _root_through_links(ground, way)
        expect("the working directory", report(case, ground, root=root)["cwd"], str(ground.ws))
