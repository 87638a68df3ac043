"""MODULE-ID: which file an id means."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from boxspec.api import Box, contains, expect, requires
from contracts.module.judging import end, quoted, runs_here
from contracts.shared.files import script_at


@requires("MODULE-ID-01")
@pytest.mark.parametrize("module_id", ["plain", "_a.b-c", "0", "a.", "x" * 200])
def test_the_file_of_that_name_is_executed(box: Box, module_id: str) -> None:
    box.module.script("other", "echo 2")
    box.module.script(module_id, "echo 1")
    expect("the value", box.module.execute(module_id).value, 1)


# Whatever a shell would make of it.
ODD_ROOTS = ["two words", "a'b\"c", "$HOME;exit", "-x", "*"]


@requires("MODULE-ID-01")
@pytest.mark.parametrize("name", ODD_ROOTS)
def test_any_name_of_a_root_will_do(box: Box, name: str) -> None:
    root = box.tmp / name
    script_at(root / "there", "echo 1")
    seen = box.module.execute("there", extensions_root=root)
    expect("the end, and the value", (end(seen), seen.value), ("value", 1))


# The same folder, spelled as people spell it.
@requires("MODULE-ID-01")
@pytest.mark.parametrize("more", ["/", "/.", "//"])
def test_a_slash_behind_the_root_is_no_part_of_a_name(box: Box, more: str) -> None:
    box.module.script("there", "echo 1")
    seen = box.module.execute("there", extensions_root=f"{box.module.root}{more}")
    expect("the end, and the value", (end(seen), seen.value), ("value", 1))


def marking(box: Box) -> tuple[Path, str]:
    """A body that leaves a mark, after a control that shows that it does."""
    mark = box.tmp / "mark"
    body = f": >{quoted(mark)}; echo 1"
    runs_here(box, body)
    expect("whether the control leaves its mark", mark.exists(), True, verdict="unproven")
    mark.unlink()
    return mark, body


NO_IDS = ["", ".", "../out", "sub/in", "-x", ".x", "a..b", "a b", "x\n", "é", "/bin/true"]
# What a runner, a shell or an interpreter takes for an option of its own.
NO_IDS += ["-c", "--", "--internal-sandbox-runner"]
# A digit and a letter only for who asks Unicode.
NO_IDS += ["\u0663", "\u017f"]


@requires("MODULE-ID-02")
@pytest.mark.parametrize("module_id", NO_IDS)
def test_what_is_no_id_starts_nothing(box: Box, module_id: str) -> None:
    mark, body = marking(box)
    place = box.module.root / module_id
    if module_id not in ("", ".", "/bin/true"):
        script_at(place, body)
    seen = box.module.execute(module_id)
    got = (end(seen), mark.exists())
    expect("the end, and whether the file was executed", got, ("SpawnFailed", False))


# What becomes the name of a module where blanks are taken away, dots resolved, or a text cut.
ALMOST = [" plain", "plain ", "plain\n", "./plain", "plain/", "sub/../plain", "plain\0", "plain\0x"]


@requires("MODULE-ID-02")
@pytest.mark.parametrize("module_id", ALMOST)
def test_a_name_is_not_mended(box: Box, module_id: str) -> None:
    mark, body = marking(box)
    box.module.script("plain", body)
    (box.module.root / "sub").mkdir()
    seen = box.module.execute(module_id, expect_result=False)
    # Where a text ends at its NUL, the request can be refused, no more.
    refused = "\0" in module_id and not seen.ok and seen.error["kind"] == "invalid_input"
    got = ("SpawnFailed" if refused else end(seen), mark.exists())
    expect("the end, and whether the module was executed", got, ("SpawnFailed", False))


@requires("MODULE-ID-03")
def test_a_missing_module_is_named_with_its_place(box: Box) -> None:
    box.module.script("there", "echo 1")
    seen = box.module.execute("missing")
    wanted = contains(f"module not found: {box.module.root}/missing")
    expect("the end", end(seen), "SpawnFailed")
    expect("the message", seen.field("message"), wanted)


def long_root(box: Box) -> Path:
    """One whose name is longer than a line that somebody has reserved for it."""
    root = box.tmp.joinpath(*["long" * 60] * 6)
    root.mkdir(parents=True)
    return root


ROOTS: dict[str, Callable[[Box], Path]] = {
    "a root that is not there": lambda box: box.tmp / "no" / "such",
    "a root that is a file": lambda box: box.module.script("file", "echo 1"),
    "a long root": long_root,
}


@requires("MODULE-ID-03")
@pytest.mark.parametrize("what", ROOTS)
def test_no_root_has_it_either(box: Box, what: str) -> None:
    root = ROOTS[what](box)
    seen = box.module.execute("missing", extensions_root=root, expect_result=False)
    expect("the end", end(seen), "SpawnFailed")
    expect("the message", seen.field("message"), contains(f"module not found: {root}/missing"))


@requires("MODULE-ID-03")
def test_no_file_has_so_long_a_name(box: Box) -> None:
    box.module.script("there", "echo 1")
    seen = box.module.execute("x" * 300, expect_result=False)
    expect("the end", end(seen), "SpawnFailed")
    expect("the message", seen.field("message"), contains(f"{box.module.root}/{'x' * 300}"))


# An id is the whole name, and the root the only place.
BESIDE = ["missing.sh", "missing.py", "missing.js", "missing.exe", "Missing", "missing.d/missing"]


@requires("MODULE-ID-03")
def test_nothing_that_is_named_alike_is_taken(box: Box) -> None:
    mark, body = marking(box)
    for name in BESIDE:
        script_at(box.module.root / name, body)
    seen = box.module.execute("missing")
    got = (end(seen), mark.exists())
    expect("the end, and whether one of them was executed", got, ("SpawnFailed", False))


@requires("MODULE-ID-03")
@pytest.mark.parametrize("where", ["PATH", "the working directory"])
def test_the_root_is_the_only_place(box: Box, where: str) -> None:
    mark, body = marking(box)
    script_at(box.tmp / "elsewhere" / "tool", body)
    place = str(box.tmp / "elsewhere")
    if where == "PATH":
        seen = box.module.execute("tool", shim_env={"PATH": f"{place}:/usr/bin:/bin"})
    else:
        seen = box.module.execute("tool", state=["--cwd", place])
    got = (end(seen), mark.exists())
    expect("the end, and whether it was executed", got, ("SpawnFailed", False))


def link_out(box: Box, body: str) -> None:
    (box.module.root / "odd").symlink_to(script_at(box.tmp / "outside", body))


def link_back(box: Box, body: str) -> None:
    # A sibling whose name only begins like the root's.
    outside = script_at(Path(f"{box.module.root}-not") / "odd", body)
    (box.module.root / "odd").symlink_to(outside)


ODD: dict[str, Callable[[Box, str], object]] = {
    "a link out of the root": link_out,
    "a link to a folder beside the root": link_back,
    "a folder": lambda box, body: (box.module.root / "odd").mkdir(),
    "a file that is not executable": lambda box, body: box.module.script("odd", body, mode=0o644),
    "a fifo": lambda box, body: os.mkfifo(box.module.root / "odd", 0o755),
    "a link to nothing": lambda box, body: (box.module.root / "odd").symlink_to("nothing"),
    "a link to itself": lambda box, body: (box.module.root / "odd").symlink_to("odd"),
    "a link through a file": lambda box, body: (box.module.root / "odd").symlink_to("control/x"),
}


@requires("MODULE-ID-04")
@pytest.mark.parametrize("what", ODD)
def test_what_is_no_program_inside_the_root_is_not_found(box: Box, what: str) -> None:
    mark, body = marking(box)
    ODD[what](box, body)
    seen = box.module.execute("odd")
    got = (end(seen), mark.exists())
    expect("the end, and whether it was executed", got, ("SpawnFailed", False))


@requires("MODULE-ID-04")
def test_a_link_inside_the_root_is_followed(box: Box) -> None:
    box.module.script("real", "echo 1")
    (box.module.root / "linked").symlink_to("real")
    expect("the value", box.module.execute("linked").value, 1)


@requires("MODULE-ID-05")
@pytest.mark.parametrize("how", ["request", "environment", "default"])
def test_a_relative_root_is_the_callers(box: Box, how: str) -> None:
    box.module.script("here", "echo 1")
    if how == "request":
        seen = box.module.execute("here", extensions_root=os.path.relpath(box.module.root))
    elif how == "environment":
        env = {"APCORE_EXTENSIONS_ROOT": os.path.relpath(box.module.root)}
        seen = box.module.execute("here", extensions_root=None, shim_env=env)
    else:
        state = ["--cwd", str(box.tmp)]
        env_less = {"APCORE_EXTENSIONS_ROOT": None}
        seen = box.module.execute("here", extensions_root=None, state=state, shim_env=env_less)
    expect("the end, and the value", (end(seen), seen.value), ("value", 1))


@requires("MODULE-ID-06")
@pytest.mark.parametrize("how", ["request", "environment"])
def test_dots_behind_a_link_lead_where_the_link_leads(box: Box, how: str) -> None:
    script_at(box.tmp / "there" / "extensions" / "module", "echo 1")
    script_at(box.tmp / "here" / "extensions" / "module", "echo 2")
    (box.tmp / "there" / "deep").mkdir()
    (box.tmp / "here" / "link").symlink_to(box.tmp / "there" / "deep")
    root = f"{box.tmp}/here/link/../extensions"
    if how == "request":
        seen = box.module.execute("module", extensions_root=root)
    else:
        env = {"APCORE_EXTENSIONS_ROOT": root}
        seen = box.module.execute("module", extensions_root=None, shim_env=env)
    expect("the end, and the value", (end(seen), seen.value), ("value", 1))


@requires("MODULE-ID-05")
def test_the_root_of_the_request_counts_before_all_others(box: Box) -> None:
    box.module.script("here", "echo 1")
    script_at(box.tmp / "other" / "here", "echo 2")
    env = {"APCORE_EXTENSIONS_ROOT": str(box.tmp / "other")}
    seen = box.module.execute("here", shim_env=env)
    expect("the end, and the value", (end(seen), seen.value), ("value", 1))
