"""MODULE-ID: which file an id names."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from boxspec.api import contains, expect, requires
from contracts.module.client import ModuleCase
from contracts.module.judging import end, quoted, runs_here
from contracts.shared.files import script_at


@requires("MODULE-ID-01")
@pytest.mark.parametrize("module_id", ["plain", "_a.b-c", "0", "a.", "x" * 200])
def test_the_file_of_that_name_is_executed(case: ModuleCase, module_id: str) -> None:
    case.module.script("other", "echo 2")
    case.module.script(module_id, "echo 1")
    expect("the value that the module printed", case.module.execute(module_id).value, 1)


# Names that a shell would split, expand or take for an option.
ODD_ROOTS = ["two words", "a'b\"c", "$HOME;exit", "-x", "*"]


@requires("MODULE-ID-01")
@pytest.mark.parametrize("name", ODD_ROOTS)
def test_any_name_of_a_root_will_do(case: ModuleCase, name: str) -> None:
    root = case.tmp / name
    script_at(root / "there", "echo 1")
    seen = case.module.execute("there", extensions_root=root)
    expect("outcome of the module, and the value", (end(seen), seen.value), ("value", 1))


# Other spellings of the same folder.
@requires("MODULE-ID-01")
@pytest.mark.parametrize("more", ["/", "/.", "//"])
def test_a_slash_after_the_root_is_no_part_of_a_name(case: ModuleCase, more: str) -> None:
    case.module.script("there", "echo 1")
    seen = case.module.execute("there", extensions_root=f"{case.module.root}{more}")
    expect("outcome of the module, and the value", (end(seen), seen.value), ("value", 1))


@requires("MODULE-ID-01")
def test_a_root_may_be_a_link(case: ModuleCase) -> None:
    case.module.script("there", "echo 1")
    link = case.tmp / "link"
    link.symlink_to(case.module.root)
    seen = case.module.execute("there", extensions_root=link)
    expect("outcome of the module, and the value", (end(seen), seen.value), ("value", 1))


def marking(case: ModuleCase) -> tuple[Path, str]:
    """Return a script that leaves a mark, after a control has shown that the mark works."""
    mark = case.tmp / "mark"
    body = f": >{quoted(mark)}; echo 1"
    runs_here(case, body)
    expect("whether the module runs with a valid id", mark.exists(), True, verdict="unproven")
    mark.unlink()
    return mark, body


NO_IDS = ["", ".", "../out", "sub/in", "-x", ".x", "a..b", "a b", "x\n", "é", "/bin/true"]
# These ids are options of a runner, a shell or an interpreter.
NO_IDS += ["-c", "--", "--internal-sandbox-runner"]
# These characters are a digit and a letter only according to Unicode.
NO_IDS += ["\u0663", "\u017f"]


@requires("MODULE-ID-02")
@pytest.mark.parametrize("module_id", NO_IDS)
def test_an_invalid_id_starts_nothing(case: ModuleCase, module_id: str) -> None:
    mark, body = marking(case)
    place = case.module.root / module_id
    if module_id not in ("", ".", "/bin/true"):
        script_at(place, body)
    seen = case.module.execute(module_id)
    got = (end(seen), mark.exists())
    expect("outcome of the module, and whether the file was executed", got, ("SpawnFailed", False))


# An implementation that removes blanks, resolves dots, or cuts the text would find a module by each
# of these ids.
ALMOST = [
    " plain",
    "plain ",
    "plain\n",
    "./plain",
    "plain/",
    "sub/../plain",
    "plain\0",
    "plain\0x",
    "PLAIN",
]


@requires("MODULE-ID-02")
@pytest.mark.parametrize("module_id", ALMOST)
def test_an_invalid_name_is_not_corrected(case: ModuleCase, module_id: str) -> None:
    mark, body = marking(case)
    case.module.script("plain", body)
    (case.module.root / "sub").mkdir()
    seen = case.module.execute(module_id, expect_result=False)
    # If the language has NUL-terminated strings, such a request can only be refused.
    refused = "\0" in module_id and not seen.ok and seen.error["kind"] == "invalid_input"
    got = ("SpawnFailed" if refused else end(seen), mark.exists())
    expect(
        "outcome of the module, and whether the module was executed", got, ("SpawnFailed", False)
    )


@requires("MODULE-ID-03")
def test_a_missing_module_is_named_with_its_place(case: ModuleCase) -> None:
    case.module.script("there", "echo 1")
    seen = case.module.execute("missing")
    wanted = contains(f"module not found: {case.module.root}/missing")
    expect("outcome of the module", end(seen), "SpawnFailed")
    expect("the message", seen.field("message"), wanted)


def long_root(case: ModuleCase) -> Path:
    """Make a root whose path is longer than usual buffers."""
    root = case.tmp.joinpath(*["long" * 60] * 6)
    root.mkdir(parents=True)
    return root


ROOTS: dict[str, Callable[[ModuleCase], Path]] = {
    "a root that is not there": lambda case: case.tmp / "no" / "such",
    "a root that is a file": lambda case: case.module.script("file", "echo 1"),
    "a long root": long_root,
}


@requires("MODULE-ID-03")
@pytest.mark.parametrize("what", ROOTS)
def test_a_missing_module_is_missing_below_every_kind_of_root(case: ModuleCase, what: str) -> None:
    root = ROOTS[what](case)
    seen = case.module.execute("missing", extensions_root=root, expect_result=False)
    expect("outcome of the module", end(seen), "SpawnFailed")
    expect("the message", seen.field("message"), contains(f"module not found: {root}/missing"))


@requires("MODULE-ID-03")
def test_no_file_has_so_long_a_name(case: ModuleCase) -> None:
    case.module.script("there", "echo 1")
    seen = case.module.execute("x" * 300, expect_result=False)
    expect("outcome of the module", end(seen), "SpawnFailed")
    expect("the message", seen.field("message"), contains(f"{case.module.root}/{'x' * 300}"))


# An id must be the whole name of a file, and the file must be in the root.
BESIDE = ["missing.sh", "missing.py", "missing.js", "missing.exe", "Missing", "missing.d/missing"]


@requires("MODULE-ID-03")
def test_a_similar_name_is_not_executed(case: ModuleCase) -> None:
    mark, body = marking(case)
    for name in BESIDE:
        script_at(case.module.root / name, body)
    seen = case.module.execute("missing")
    got = (end(seen), mark.exists())
    expect(
        "outcome of the module, and whether one of the files was executed",
        got,
        ("SpawnFailed", False),
    )


@requires("MODULE-ID-03")
def test_a_dot_in_an_id_is_no_directory(case: ModuleCase) -> None:
    mark, body = marking(case)
    script_at(case.module.root / "a" / "b", body)
    seen = case.module.execute("a.b")
    got = (end(seen), mark.exists())
    expect("outcome of `a.b`, and whether `a/b` was executed", got, ("SpawnFailed", False))


@requires("MODULE-ID-03")
@pytest.mark.parametrize("where", ["PATH", "the working directory"])
def test_the_root_is_the_only_place(case: ModuleCase, where: str) -> None:
    mark, body = marking(case)
    script_at(case.tmp / "elsewhere" / "tool", body)
    place = str(case.tmp / "elsewhere")
    if where == "PATH":
        seen = case.module.execute("tool", shim_env={"PATH": f"{place}:/usr/bin:/bin"})
    else:
        seen = case.module.execute("tool", state=["--cwd", place])
    got = (end(seen), mark.exists())
    expect("outcome of the module, and whether the file was executed", got, ("SpawnFailed", False))


def link_out(case: ModuleCase, body: str) -> None:
    (case.module.root / "odd").symlink_to(script_at(case.tmp / "outside", body))


def link_back(case: ModuleCase, body: str) -> None:
    # This directory is not in the root, although its name begins with the name of the root.
    outside = script_at(Path(f"{case.module.root}-not") / "odd", body)
    (case.module.root / "odd").symlink_to(outside)


ODD: dict[str, Callable[[ModuleCase, str], object]] = {
    "a link out of the root": link_out,
    "a link to a folder beside the root": link_back,
    "a folder": lambda case, body: (case.module.root / "odd").mkdir(),
    "a file that is not executable": lambda case, body: case.module.script("odd", body, mode=0o644),
    "a fifo": lambda case, body: os.mkfifo(case.module.root / "odd", 0o755),
    "a link to nothing": lambda case, body: (case.module.root / "odd").symlink_to("nothing"),
    "a link to itself": lambda case, body: (case.module.root / "odd").symlink_to("odd"),
    "a link through a file": lambda case, body: (case.module.root / "odd").symlink_to("control/x"),
}


@requires("MODULE-ID-04")
@pytest.mark.parametrize("what", ODD)
def test_only_a_program_inside_the_root_is_found(case: ModuleCase, what: str) -> None:
    mark, body = marking(case)
    ODD[what](case, body)
    seen = case.module.execute("odd")
    got = (end(seen), mark.exists())
    expect("outcome of the module, and whether the file was executed", got, ("SpawnFailed", False))
    expect("the message", seen.field("message"), contains("module not found: "))


@requires("MODULE-ID-04")
def test_a_link_inside_the_root_is_followed(case: ModuleCase) -> None:
    case.module.script("real", "echo 1")
    (case.module.root / "linked").symlink_to("real")
    expect("the value that the module printed", case.module.execute("linked").value, 1)


@requires("MODULE-ID-05")
@pytest.mark.parametrize("how", ["request", "environment", "default"])
def test_a_relative_root_is_the_callers(case: ModuleCase, how: str) -> None:
    case.module.script("here", "echo 1")
    if how == "request":
        seen = case.module.execute("here", extensions_root=os.path.relpath(case.module.root))
    elif how == "environment":
        env = {"APCORE_EXTENSIONS_ROOT": os.path.relpath(case.module.root)}
        seen = case.module.execute("here", extensions_root=None, shim_env=env)
    else:
        state = ["--cwd", str(case.tmp)]
        env_less = {"APCORE_EXTENSIONS_ROOT": None}
        seen = case.module.execute("here", extensions_root=None, state=state, shim_env=env_less)
    expect("outcome of the module, and the value", (end(seen), seen.value), ("value", 1))


@requires("MODULE-ID-06")
@pytest.mark.parametrize("how", ["request", "environment"])
def test_dots_after_a_link_lead_where_the_link_leads(case: ModuleCase, how: str) -> None:
    script_at(case.tmp / "there" / "extensions" / "module", "echo 1")
    script_at(case.tmp / "here" / "extensions" / "module", "echo 2")
    (case.tmp / "there" / "deep").mkdir()
    (case.tmp / "here" / "link").symlink_to(case.tmp / "there" / "deep")
    root = f"{case.tmp}/here/link/../extensions"
    if how == "request":
        seen = case.module.execute("module", extensions_root=root)
    else:
        env = {"APCORE_EXTENSIONS_ROOT": root}
        seen = case.module.execute("module", extensions_root=None, shim_env=env)
    expect("outcome of the module, and the value", (end(seen), seen.value), ("value", 1))


@requires("MODULE-ID-05")
def test_the_root_of_the_request_counts_before_all_others(case: ModuleCase) -> None:
    case.module.script("here", "echo 1")
    script_at(case.tmp / "other" / "here", "echo 2")
    env = {"APCORE_EXTENSIONS_ROOT": str(case.tmp / "other")}
    seen = case.module.execute("here", shim_env=env)
    expect("outcome of the module, and the value", (end(seen), seen.value), ("value", 1))
