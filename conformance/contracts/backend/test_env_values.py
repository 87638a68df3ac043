"""Values of variables that are hard to pass on, and the environments of several calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from boxspec.api import expect, requires
from contracts.backend.client import BackendCase
from contracts.backend.ground import Ground, made_ground
from contracts.backend.reports import environment, report
from contracts.shared.requests import ExecRequest

# Variables that a program inside gets, with values that a shell script or a command line may lose.
VALUES = {
    "LANGUAGE": "",
    "LOGNAME": "two words",
    "USER": "a=b",
    "TZ": "first\nsecond=line",
    "SHELL": "/bin/" + "x" * 70_000,
    "LC_PAPER": " x ",
}


@requires("BACKEND-ENV-02")
def test_inherited_values_come_unchanged(case: BackendCase) -> None:
    with made_ground() as ground:
        given = environment(report(case, ground, shim_env={**VALUES, "HOME": str(ground.home)}))
        changed = [name for name, value in VALUES.items() if given.get(name) != value]
        expect("variables that are missing or have another value", changed, [])


PRINTS: ExecRequest = {"program": "/usr/bin/env"}


@requires("BACKEND-ENV-01", needs=["BACKEND-LIFE-02"])
def test_a_call_gets_no_variable_of_an_earlier_one(case: BackendCase) -> None:
    with made_ground() as ground:
        names = ("FIRST", "SECOND", "THIRD")
        calls = [PRINTS | {"env": {"clear_and_set": [[name, ground.token]]}} for name in names]
        session = case.backend.run(
            calls, root=ground.ws, profile="repo-write", on_unavailable="degrade"
        )
        session.need_enforcement()
        value = f"={ground.token}"
        found = [
            [line.removesuffix(value) for line in _lines(call.stdout) if line.endswith(value)]
            for call in session.calls
        ]
        expect("given variables in each call", found, [[name] for name in names])


@requires("BACKEND-ENV-04", needs=["BACKEND-LIFE-02", "BACKEND-CONTEXT-02"])
def test_each_hermetic_call_inherits_only_the_path(case: BackendCase) -> None:
    """The context has a cwd, and the calls differ in their fields."""
    with made_ground() as ground:
        (ground.ws / "sub").mkdir()
        names = ("USER", "LOGNAME", "LANG", "TZ", "SHELL", "LC_ALL", "BOXSPEC_SECRET")
        values = dict.fromkeys(names, f"C.{ground.token}")
        calls = [PRINTS, PRINTS | {"timeout_ms": 20_000}, PRINTS | {"stdin": "null"}]
        session = case.backend.run(
            calls,
            root=ground.ws,
            cwd=ground.ws / "sub",
            profile="ci-only",
            on_unavailable="degrade",
            shim_env={**values, "HOME": str(ground.home)},
        )
        session.need_enforcement()
        passed = [ground.token.encode() in call.stdout for call in session.calls]
        expect("calls that got a variable of the caller", passed, [False] * len(calls))


def _lines(text: bytes) -> list[str]:
    return text.decode(errors="replace").splitlines()


# Shell scripts that fill the scratch directory with files that are hard to remove.
LEFT = {
    # More levels than a recursive function may have, and a path that is longer than PATH_MAX.
    "deep": 'p=$(printf "d/%.0s" $(seq 1030)); for i in 1 2; do mkdir -p $p && cd -P $p; done',
    "names": r"""for n in "$(printf 'a\nb')" "$(printf '\377')" '\' ' ' -rf '*' .hidden; do
: >"$n"; mkdir -- "$n.d"; : >"$n.d/$n"; done; : >$(printf 'x%.0s' $(seq 255))""",
    "closed": "mkdir -p a/b/c; : >a/b/c/file; chmod 0 a/b/c; chmod 0500 a/b; chmod 0 a; chmod 0 .",
    "kinds": "mkfifo pipe; ln -s . link; ln -s /nowhere dangling; : >file; chmod 0 file pipe",
    "many": "i=0; while [ $i -lt 1500 ]; do : >f$i; i=$((i+1)); done",
}


def _scratch_of(ground: Ground) -> Path:
    return Path((ground.ws / "scratch").read_bytes().decode(errors="replace"))


@requires("BACKEND-ENV-03")
@pytest.mark.parametrize("what", LEFT)
def test_a_scratch_with_any_files_is_removed(case: BackendCase, what: str) -> None:
    with made_ground() as ground:
        fill = f'cd "$TMPDIR" && {{ {LEFT[what]}\n}} && exit 3'
        line = f'umask 077; printf %s "$TMPDIR" >scratch; {fill}'
        place = ground.folder / "temporary"
        place.mkdir()
        session = case.backend.run(
            [{"program": "/bin/sh", "args": ["-c", line]}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
            shim_env={"HOME": str(ground.home), "TMPDIR": str(place)},
        )
        session.need_enforcement()
        expect("exit code of the program", session.only.result["exit_code"], 3)
        scratch = _scratch_of(ground)
        # Inside, /tmp may be another directory.
        left = [str(scratch)] if scratch != Path("/tmp") and scratch.exists() else []
        left += [path.name for path in place.iterdir()]
        expect("what is left of the scratch directory", left, [])
        expect("warnings", session.result["warnings"], [])
