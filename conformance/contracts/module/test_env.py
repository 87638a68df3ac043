"""MODULE-ENV: the exact environment of a module."""

from __future__ import annotations

import os
import secrets
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from boxspec.api import HostLacks, NotMeasured, expect, requires
from contracts.module.client import ModuleCase
from contracts.module.judging import end, noted, quoted
from contracts.shared.files import script_at

ALWAYS = {"HOME", "TMPDIR", "APCORE_EXTENSIONS_ROOT"}


def environment(case: ModuleCase, shim_env: Mapping[str, Any]) -> tuple[dict[str, str], str]:
    """Return the initial environment of the module, and its working directory."""
    place, here = case.tmp / "environ", case.tmp / "cwd"
    body = f"/bin/cat /proc/$$/environ >{quoted(place)}; pwd >{quoted(here)}; echo 1"
    case.module.script("tells", body)
    case.module.execute("tells", shim_env=shim_env)
    entries = [each.partition("=") for each in noted(place).split("\0") if each]
    return {name: value for name, _, value in entries}, noted(here).rstrip("\n")


@requires("MODULE-ENV-01")
def test_listed_variables_reach_the_module(case: ModuleCase) -> None:
    given = {
        "PATH": "/usr/bin:/bin:/boxspec",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "APCORE_X": "1",
        "APCORE_": "",
        "APCORE_LONG": "a=b c\n" * 10_000,
        "APCORE_OAUTH_AUTH_URL": "x",
    }
    got, _ = environment(case, given)
    expect("variables that reached the module", {name: got.get(name) for name in given}, given)


DECOYS: dict[str, str | bytes] = {
    "PYTHONPATH": "/boxspec/decoy",
    "LD_PRELOAD": "",
    "LANGCHAIN_API_KEY": "decoy",
    "LANGUAGE": "en",
    "LC_CTYPE": "C.UTF-8",
    "LC_ALLX": "decoy",
    "PATHEXT": "decoy",
    "XAPCORE_A": "decoy",
    "apcore_a": "decoy",
    "APCORE": "decoy",
    "HOMEDRIVE": "decoy",
    "OLDPWD": "/",
    "PWD": "/",
    "USER": "decoy",
    "SHELL": "/bin/sh",
    "AWS_SECRET_ACCESS_KEY": "decoy",
    "BASH_FUNC_f%%": "() { echo decoy; }",
    "ENV": "/dev/null",
    "RAW\udcff": b"\xff",
}


@requires("MODULE-ENV-02")
def test_other_variables_do_not_reach_the_module(case: ModuleCase) -> None:
    got, _ = environment(case, {**DECOYS, "PATH": "/usr/bin:/bin", "LANG": "C", "LC_ALL": "C"})
    expected = ALWAYS | {"PATH", "LANG", "LC_ALL"}
    strange = sorted(name for name in got if name not in expected)
    expect(
        "variables that are not on the list",
        [name for name in strange if name[:7] != "APCORE_"],
        [],
    )


@requires("MODULE-ENV-02")
@pytest.mark.parametrize("name", ["LANG", "LC_ALL", "PATH"])
def test_variables_that_the_caller_lacks_are_not_set(case: ModuleCase, name: str) -> None:
    got, _ = environment(case, {name: None})
    expect("the variable", got.get(name), None)


LOCALES = {"none": None, "C": "C", "POSIX": "POSIX", "unknown": "xx_XX.UTF-8"}


@requires("MODULE-ENV-02")
@pytest.mark.parametrize("locale", LOCALES)
def test_no_locale_of_the_caller_adds_a_variable(case: ModuleCase, locale: str) -> None:
    # A runtime may set LC_CTYPE for itself, for example Python in the locale C.
    unset = dict.fromkeys(("LANG", "LC_ALL", "LC_CTYPE", "LANGUAGE"))
    got, _ = environment(case, {**unset, "LANG": LOCALES[locale]})
    found = {name for name in got if name.startswith(("L", "PYTHON"))}
    expect("variables of the locale", found, {"LANG"} if LOCALES[locale] else set())


@requires("MODULE-ENV-03")
def test_home_tmpdir_and_working_directory_are_the_same_directory(case: ModuleCase) -> None:
    place = case.tmp / "places"
    # Compare real paths, because TMPDIR may be a link.
    real = 'for each in "$HOME" "$TMPDIR" .; do printf "%s\\0" "$(cd "$each" && pwd -P)"; done'
    named = 'printf "%s\\0%s" "$HOME" "$TMPDIR"'
    case.module.script("tells", f"({real}; {named}) >{quoted(place)}; echo 1")
    case.module.execute("tells", shim_env={"HOME": "/boxspec"})
    home, temporary, here, *named_so = noted(place).split("\0")
    callers = {"/boxspec", *(os.path.realpath(each) for each in (case.tmp, case.module.below))}
    expect("whether HOME and TMPDIR are set", [bool(each) for each in named_so], [True, True])
    expect("HOME, TMPDIR and working directory", {home, temporary, here}, {here})
    expect("whether the value is the caller's", here in callers, False)


def expect_named_in_full(case: ModuleCase, temporary: str, given: str) -> None:
    """Expect absolute names for the module's directory, which is made below this folder."""
    place, found = case.tmp / temporary, case.tmp / "found"
    place.mkdir(exist_ok=True)
    tell = 'printf "%s\\0%s\\0%s" "$HOME" "$TMPDIR" "$(pwd -P)"'
    case.module.script("tells", f"{tell} >{quoted(found)}; echo 1")
    state = ["--cwd", str(case.tmp)]
    # Execute without a sandbox, because a sandbox may change TMPDIR.
    case.module.execute("tells", backend=None, state=state, shim_env={"TMPDIR": given})
    home, scratch, here = noted(found).split("\0")
    # Compare the parent directories, because the directory itself has been removed.
    parents = {os.path.realpath(Path(each).parent) for each in (home, scratch, here)}
    got = (home.startswith("/"), home == scratch, len(parents))
    expect(
        "whether HOME is absolute, whether TMPDIR equals it, number of parent folders",
        got,
        (True, True, 1),
    )


@requires("MODULE-ENV-03")
@pytest.mark.parametrize("temporary", ["tmp", "./", "with two words", "$HOME"])
def test_a_directory_is_named_in_full_wherever_it_is(case: ModuleCase, temporary: str) -> None:
    """Execute with a TMPDIR that is relative or has an odd spelling."""
    relative = temporary in ("tmp", "./")
    expect_named_in_full(case, temporary, temporary if relative else str(case.tmp / temporary))


@requires("MODULE-ENV-04")
def test_tokens_stay_with_the_caller(case: ModuleCase) -> None:
    given = {"APCORE_AUTH_TOKEN": "t", "APCORE_AUTH_": "t", "APCORE_AUTHOR": "me"}
    got, _ = environment(case, given)
    arrived = {name for name in given if name in got}
    expect("variables that reached the module", sorted(arrived), ["APCORE_AUTHOR"])


def _reading_ancestors(token: str, place: Path) -> str:
    """Return a script that tries to read the environment of each ancestor.

    For each ancestor the script prints a line: `read` or `kept`, and the ancestor's name.
    """
    return f"""
    pid=$PPID
    while [ "${{pid:-0}}" -gt 1 ]; do
        if grep -qaF {token} /proc/$pid/environ 2>/dev/null; then read=read; else read=kept; fi
        printf '%s %s\\n' "$read" "$(sed -n 's/^Name:[[:space:]]*//p' /proc/$pid/status)"
        pid=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$pid/status)
    done >{quoted(place)}"""


def _need_readable_environments(case: ModuleCase, token: str) -> None:
    """Raise HostLacks if on this host no process can read the environment of its parent."""
    place = case.tmp / "control"
    script = script_at(case.tmp / "reader", _reading_ancestors(token, place))
    env = {**os.environ, "APCORE_AUTH_TOKEN": token}
    subprocess.run(["/bin/sh", "-c", f"{quoted(script)}; :"], env=env, check=False)
    if not noted(place).startswith("read "):
        raise HostLacks(
            "reading /proc/PID/environ",
            "this system does not let a process read its parent's environment",
        )


@requires("MODULE-ENV-06")
def test_the_environment_of_the_caller_cannot_be_read_in_proc(case: ModuleCase) -> None:
    token, place = f"token-{secrets.token_hex(8)}", case.tmp / "ancestors"
    _need_readable_environments(case, token)
    case.module.script("reads", f"{_reading_ancestors(token, place)}\necho 1")
    seen = case.module.execute("reads", shim_env={"APCORE_AUTH_TOKEN": token})
    ancestors = [line.split(" ", 1) for line in noted(place).splitlines()]
    # Only the direct parent is the caller. The shim cannot protect a script that starts the shim.
    caller = ancestors[0][1] if ancestors else ""
    read = [name for how, name in ancestors if how == "read" and name == caller]
    exposed = bool(seen.result.get("caller_exposed"))
    if read and exposed:
        raise NotMeasured(
            "the result reports `caller_exposed`: this host does not allow to hide the caller"
        )
    expect("ancestors of the module whose secret it reads in /proc", read, [])


@requires("MODULE-ENV-05")
def test_bytes_that_are_not_text_arrive_unchanged(case: ModuleCase) -> None:
    got, _ = environment(case, {"APCORE_RAW": b"\xff\xfe caf\xe9", "NO\udcff": b"\xfe"})
    expect("the variable", got.get("APCORE_RAW"), "\udcff\udcfe caf\udce9")


@requires("MODULE-ENV-05")
def test_a_name_that_is_not_text_is_passed_on(case: ModuleCase) -> None:
    name = "APCORE_caf\udce9"
    got, _ = environment(case, {name: b"\xff1"})
    expect("the variable", got.get(name), "\udcff1")


@requires("MODULE-ENV-05")
def test_a_directory_is_named_in_full_where_that_is_no_text(case: ModuleCase) -> None:
    expect_named_in_full(case, "caf\udce9", str(case.tmp / "caf\udce9"))


@requires("MODULE-ENV-05")
@pytest.mark.parametrize("how", ["request", "environment"])
def test_a_root_whose_name_is_no_text_has_its_modules(case: ModuleCase, how: str) -> None:
    root, found = case.tmp / "caf\udce9", case.tmp / "found"
    script_at(root / "there", f'printf %s "$APCORE_EXTENSIONS_ROOT" >{quoted(found)}; echo 1')
    if how == "request":
        seen = case.module.execute("there", extensions_root=root)
    else:
        env = {"APCORE_EXTENSIONS_ROOT": str(root)}
        seen = case.module.execute("there", extensions_root=None, shim_env=env)
    got = (end(seen), os.path.realpath(noted(found)))
    expect(
        "outcome of the module, and the root in the module's environment",
        got,
        ("value", os.path.realpath(root)),
    )
