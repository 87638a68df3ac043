"""Tests of the tests for macOS, on Linux with a fake sandbox-exec."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from boxspec.errors import HarnessError
from contracts.sbpl import mac
from selftest.tools import PYTHON_IMPLEMENTATION, ROOT, Done, converse, run

pytestmark = pytest.mark.turns(6)

LANE = ROOT / "ci" / "macos-lane"
FAKE = ROOT / "conformance" / "selftest" / "contracts" / "sbpl" / "sandbox_exec.py"
HOME = {"HOME": "/Users/u"}
SHAPES: dict[str, dict[str, Any]] = {
    "denies": {
        "rules": {
            "read": ["**"],
            "modify": ["**", "!lib/*.c"],
            "denyRead": ["k/a", "**/*.env"],
            "denyModify": ["s/**", "!s/c/**"],
        },
        "root": "/Users/u/ws",
        "env": HOME,
    },
    "side-root": {
        "rules": {"read": ["**"], "modify": ["src/**"]},
        "root": "/Users/u/a[1].b",
        "env": HOME,
        "side_roots": ["/Users/u/side"],
        "provider": "codex",
    },
    "elsewhere": {"rules": {}, "root": "/opt/ws"},
}


@pytest.fixture
def goldens() -> Iterator[Path]:
    """Yield a folder below the checkout, because the tests for macOS refuse folders for temporary
    files, including /dev/shm."""
    with tempfile.TemporaryDirectory(dir=ROOT / "build", prefix="macos-lane-") as made:
        yield written(Path(made) / "goldens")


def written(folder: Path) -> Path:
    folder.mkdir()
    asked = [{"id": name, "op": "sbpl.compile", **shape} for name, shape in SHAPES.items()]
    for message, answer in zip(
        asked, converse([sys.executable, PYTHON_IMPLEMENTATION], asked), strict=True
    ):
        (folder / f"{message['id']}.json").write_text(json.dumps(message))
        (folder / f"{message['id']}.sb").write_text(answer["result"]["text"])
    return folder


def lane(kind: str, goldens: Path, *words: str | Path) -> Done:
    wrapper = goldens.parent / "sandbox-exec"
    wrapper.write_text(
        f'#!/bin/sh\nPYTHONPATH={ROOT}/conformance exec {sys.executable} -P {FAKE} {kind} "$@"\n'
    )
    wrapper.chmod(0o755)
    made = ("--wrapper", wrapper, "--dir", goldens.parent, "--goldens", goldens)
    return run([LANE, *made, *words])


def test_a_sandbox_that_follows_the_text_agrees(goldens: Path) -> None:
    done = lane("faithful", goldens)
    assert done.returncode == 0, done.stdout + done.stderr
    *_, last = done.stdout.splitlines()
    assert last.startswith("measured: 3 texts, ")
    assert last.endswith(" cases, 0 differ")
    assert int(last.split()[3]) > 100
    assert not [each for each in goldens.parent.iterdir() if each.name.startswith("boxspec-mac-")]


@pytest.mark.parametrize(
    ("kind", "says"), [("open", "sandbox allow, evaluator deny"), ("closed", "sandbox deny")]
)
def test_a_sandbox_that_ignores_the_text_is_reported_case_by_case(
    kind: str, says: str, goldens: Path
) -> None:
    done = lane(kind, goldens)
    assert done.returncode == 1, done.stdout + done.stderr
    told = [line for line in done.stdout.splitlines() if line.startswith("  denies: ")]
    assert len(told) > 10
    assert all(says in line for line in told)


def test_a_text_that_does_not_match_the_policy_is_reported(goldens: Path) -> None:
    text = goldens / "denies.sb"
    denied = 'file-write* (subpath "/Users/u/ws/s"))'
    text.write_text(text.read_text().replace(f"(deny {denied}", f"(allow {denied}"))
    done = lane("faithful", goldens)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "sandbox allow, policy deny" in done.stdout


def test_a_rejected_text_is_reported(goldens: Path) -> None:
    done = lane("refuses", goldens)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.count("unexpected ^ operator") == len(SHAPES)


def test_without_goldens_nothing_was_measured(goldens: Path) -> None:
    for file in goldens.iterdir():
        file.unlink()
    done = lane("faithful", goldens)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no goldens" in done.stderr


@pytest.mark.skipif(mac.absent() is None, reason="it is measured here")
def test_on_other_systems_the_reason_for_not_measured_is_given() -> None:
    done = run([LANE])
    assert (done.returncode, done.stdout) == (3, f"not measured: {mac.ABSENT}\n")


def test_the_help_lists_the_exit_codes() -> None:
    done = run([LANE, "--help"])
    assert done.returncode == 0
    assert all(f"{code} " in done.stdout for code in range(4))


def test_a_wrong_word_is_bad_usage() -> None:
    done = run([LANE, "--loud"])
    assert (done.returncode, done.stdout) == (2, "")


def test_a_silent_sandbox_breaks_the_lane(goldens: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mac, "WITHIN_S", 0.2)
    wrapper = goldens.parent / "silent"
    wrapper.write_text("#!/bin/sh\nexec sleep 60\n")
    wrapper.chmod(0o755)
    shape = next(each for each in mac.goldens(goldens) if each.is_movable)
    with mac.Home(goldens.parent) as home, pytest.raises(HarnessError, match="no answer"):
        mac.differences(shape.moved(str(home)), home, wrapper)


def test_texts_and_setups_move_alike(goldens: Path) -> None:
    """There are two ways to get a text for another home directory: compile it by the Python
    implementation, or translate the old text. Both must give the same text."""
    for shape in mac.goldens(goldens):
        if not shape.is_movable:
            continue
        moved = shape.moved("/opt/new-home")
        message = {**moved.setup.message(), "id": "1"}
        (answer,) = converse([sys.executable, PYTHON_IMPLEMENTATION], [message])
        assert moved.text.decode() == answer["result"]["text"]


def test_cases_are_the_same_every_time(goldens: Path) -> None:
    for shape in mac.goldens(goldens):
        assert mac.attempts(shape.setup, "/h") == mac.attempts(shape.setup, "/h")


def test_nothing_is_made_outside_of_the_directory(goldens: Path) -> None:
    shape = next(each for each in mac.goldens(goldens) if each.setup.side_roots)
    setup = shape.setup.but(side_roots=["/Users/u/side", "/opt/side"])
    paths = [path for case in mac.attempts(setup, "/Users/u") for path in case.paths]
    assert "/Users/u/side/x" in paths
    assert [path for path in paths if not path.startswith("/Users/u")] == []


@pytest.mark.parametrize("name", ["a b", "tmp"])
def test_a_directory_that_would_answer_otherwise_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths that need escapes, and paths below a directory that is always writable, are refused,
    because answers about them would differ."""
    monkeypatch.setattr(mac, "SCRATCH", (str(tmp_path / "tmp"),))
    folder = tmp_path / name
    folder.mkdir()
    with pytest.raises(HarnessError, match="--dir"), mac.Home(folder):
        pass
    assert list(folder.iterdir()) == []
    plain = tmp_path / "plain"
    plain.mkdir()
    with mac.Home(plain) as home:
        assert home.is_dir()
