"""Tests of defaults from boxspec.toml and from BOXSPEC_SHIM."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest

from boxspec.cli import settings
from boxspec.cli.arguments import run_flags
from boxspec.cli.verbs import verb_parser
from boxspec.errors import UsageError
from selftest.tools import FAKE, FEW_TEXTS, boxspec


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(settings.VARIABLE, raising=False)


def parsed(*words: str) -> argparse.Namespace:
    parser = verb_parser("run")
    run_flags(parser)
    return settings.parse(parser, words)


def written(text: str) -> None:
    Path(settings.FILE).write_text(text)


def test_the_command_line_comes_before_the_variable_and_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert (parsed().shim, parsed().seed, parsed().defaults) == (None, 0, "")
    written('shim = "cat"\nseed = 7\ncontract = ["exec"]\nstrict = true\n')
    args = parsed()
    assert (args.shim, args.seed, args.contract, args.strict) == ("cat", 7, ["exec"], True)
    assert args.defaults == "shim, seed, contract, strict from boxspec.toml"
    args = parsed("--seed", "0", "--contract", "policy", "--shim", "own")
    assert (args.shim, args.seed, args.contract) == ("own", 0, ["policy"])
    assert args.defaults == "strict from boxspec.toml"
    monkeypatch.setenv(settings.VARIABLE, "true")
    args = parsed()
    assert args.shim == "true"
    assert args.defaults == "shim from BOXSPEC_SHIM; seed, contract, strict from boxspec.toml"
    # A judged program must not see the variable.
    assert settings.VARIABLE not in os.environ


def test_a_missing_shim_is_named_with_the_place_of_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written('shim = "./none"')
    with pytest.raises(UsageError, match=r"^boxspec.toml: shim = ./none: no such file"):
        parsed()
    assert parsed("--shim", "./other").shim == "./other"
    monkeypatch.setenv(settings.VARIABLE, "./absent")
    with pytest.raises(UsageError, match=r"^BOXSPEC_SHIM = ./absent: no such file"):
        parsed()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("shmi = 'x'", r"^boxspec.toml: shmi: no such key \(near it: shim"),
        ("[run]\nshim = 'x'", r"^boxspec.toml: \[run\]: the file has no tables \(write its keys"),
        ("shim = 3", r'^boxspec.toml: shim: is not a string \(for example: shim = "…"\)'),
        ("jobs = true", r"^boxspec.toml: jobs: is not a number"),
        ("jobs = 0", r"^boxspec.toml: jobs: '0' is not a number from 1 up"),
        ("stress = 1", r"^boxspec.toml: stress: is not true or false"),
        ("contract = 'exec'", r'^boxspec.toml: contract: is not a list of strings \(.*\["NAME"\]'),
        ("profile = 'hard'", r"^boxspec.toml: profile: 'hard' is not known \(known: contract, "),
        ("shim = ", r"^boxspec.toml: is not TOML: Invalid value"),
    ],
)
def test_a_mistake_in_the_file_is_named_with_its_key(text: str, said: str) -> None:
    written(text)
    with pytest.raises(UsageError, match=said):
        parsed()


def test_a_run_uses_the_file_and_says_so(tmp_path: Path) -> None:
    written(f'shim = "{FAKE} honest"\n')
    done = boxspec("run", "-k", FEW_TEXTS, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\ndefaults  shim from boxspec.toml\n" in done.stdout
    assert "reference" not in done.stdout


def test_a_run_without_a_shim_says_what_it_judges(tmp_path: Path) -> None:
    done = boxspec("run", "EXEC-TEXT-01", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the bundled reference. Yours: --shim CMD" in done.stdout
