"""Parts of `boxspec explore`: programs, minimising, the refusal without a sandbox."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from boxspec.errors import UsageError
from boxspec.explore.effects import Effect
from boxspec.explore.minimise import minimised
from boxspec.explore.program import SLOTS, Part, code, program
from boxspec.explore.promote import compiled, paths, source
from boxspec.explore.search import Finding
from boxspec.explore.table import ANY, NONE, table
from boxspec.places import ROOT
from boxspec.programs import programs

ENOUGH = 3000
PRINT = """\
from boxspec.explore.program import program, code
print(" ".join(code(program(7, number)) for number in range(500)))"""


def test_the_same_seed_gives_the_same_programs_in_each_process() -> None:
    first, second = (
        subprocess.run(
            [sys.executable, "-c", PRINT],
            cwd=ROOT / "conformance",
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    )
    assert first == second
    assert len(set(first.split())) > 400
    assert first.split()[3].decode() == code(program(7, 3)) != code(program(8, 3))


def test_each_operation_target_and_choice_is_generated() -> None:
    calls = [call for number in range(ENOUGH) for call in program(1, number)]
    known = table()
    assert {each.operation.name for each in calls} == {each.name for each in known.operations}
    paths = {each.p for each in calls if each.operation.uses("p")}
    assert paths == {*range(len(known.targets))}
    for name, picks in known.picks.items():
        some = {each.m for each in calls if each.operation.choices == name}
        assert some == {*range(len(picks))}, name


def test_a_call_gets_a_descriptor_that_an_earlier_call_has_made() -> None:
    for number in range(ENOUGH):
        kinds: dict[int, str] = {}
        for call in program(1, number):
            assert call.s < SLOTS
            if call.operation.takes not in (NONE, ANY):
                assert kinds[call.s] == call.operation.takes
            if call.operation.makes != NONE:
                kinds[call.s] = call.operation.makes


def test_the_words_of_a_call_name_all_of_its_operands() -> None:
    assert all("{" not in call.words for number in range(ENOUGH) for call in program(1, number))


def test_a_part_of_a_program_has_the_chosen_calls() -> None:
    number = next(n for n in range(ENOUGH) if len(program(1, n)) == 4)
    whole = program(1, number)
    assert Part.parse(f"{number}").calls(1) == whole
    assert Part.parse(f"{number}:0,3").calls(1) == (whole[0], whole[3])
    assert str(Part.parse(f"{number}:0,3")) == f"{number}:0,3"
    with pytest.raises(UsageError):
        Part.parse(f"{number}:4").calls(1)
    with pytest.raises(UsageError):
        Part.parse("x")


@pytest.mark.parametrize("wanted", [{5}, {0, 63}, {1, 2, 40}, {7, 8, 9, 10}])
def test_what_is_minimised_keeps_the_effect_and_nothing_else(wanted: set[int]) -> None:
    asked = 0

    def shows(some: Sequence[int]) -> bool:
        nonlocal asked
        asked += 1
        return wanted <= {*some}

    assert {*minimised(range(64), shows)} == wanted
    assert asked < 130


@pytest.mark.parametrize(
    "lines",
    [
        "out_file=/etc/passwd",
        "out_file=/scene/../etc/passwd",
        "tmp_new=/tmp/other",
        "tmp_new=/tmp/0123456789abcdef/x",
    ],
)
def test_a_path_outside_of_the_scene_is_refused(tmp_path: Path, lines: str) -> None:
    plan = tmp_path / "plan"
    plan.write_text(f"scene=/scene\ntoken=0123456789abcdef\n{lines}\nrun=000000000000\n")
    done = subprocess.run([programs.steps, plan], capture_output=True, text=True, check=False)
    assert done.returncode == 64
    assert "outside of the scene" in done.stderr


def test_no_program_runs_without_the_key(tmp_path: Path) -> None:
    names = {each.name for each in table().targets} | {"report"}
    unlink = next(each for each in table().operations if each.name == "unlink")
    at = [each.name for each in table().targets].index("out_file")
    values = "".join(f"{name}={tmp_path / name}\n" for name in sorted(names))
    (tmp_path / "out_file").write_text("canary")
    plan = tmp_path / "plan"
    run = f"run={bytes((unlink.number, at, 0, 0, 0, 0)).hex()}\n"
    plan.write_text(f"scene={tmp_path}\ntoken=0123456789abcdef\nlimit_ms=1000\n{values}{run}")
    done = subprocess.run([programs.steps, plan], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (64, b"")
    assert (tmp_path / "out_file").read_text() == "canary"


def test_a_promoted_finding_compiles_with_each_operation(tmp_path: Path) -> None:
    effect = Effect("fs-write", "a file outside was created", "")
    parts = tuple(Part(number) for number in range(ENOUGH // 3))
    names = {call.operation.name for part in parts for call in part.calls(1)}
    assert names == {each.name for each in table().operations}
    finding = Finding(effect, parts, again=True)
    (path,) = paths(tmp_path, [finding])
    assert path.name == "a-file-outside-was-created.c"
    path.write_text(source(finding, 1, path.stem))
    program = compiled(path, tmp_path)
    done = subprocess.run([program], check=False)
    assert done.returncode == 64
