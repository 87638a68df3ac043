"""Tests of the trust checks when a busy machine delays the shim."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from boxspec.errors import NotConforming, UsageError
from boxspec.judge.verdict import Late
from boxspec.programs import programs
from boxspec.subject import trust
from boxspec.subject.case import Case
from boxspec.subject.client.command import shim_argv
from boxspec.subject.contract import Say
from boxspec.subject.session import Session
from selftest.tools import PYTHON_IMPLEMENTATION, REFERENCE


@pytest.fixture
def session() -> Iterator[Session]:
    made = Session((str(REFERENCE),))
    yield made
    made.close()


def late(monkeypatch: pytest.MonkeyPatch, times: int) -> list[str]:
    """Delay the first check this many times, each time after a line of output."""
    folders: list[str] = []
    ask = trust._serve

    def kept_waiting(case: Case, say: Say) -> None:
        folders.append(str(case.folder))
        say("a line")
        if len(folders) <= times:
            raise Late("the shim returns", "an answer", "did not return", hang=True)
        ask(case, say)

    monkeypatch.setattr(trust, "_serve", kept_waiting)
    return folders


def test_a_delayed_check_runs_again(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    folders, said = late(monkeypatch, 2), list[str]()
    trust.trust(session, said.append, contracts=[])
    assert len({*folders}) == 3
    assert said.count("a line") == 1
    assert session.hello


def test_a_shim_that_never_answers_is_not_trusted(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = late(monkeypatch, 3)
    with pytest.raises(NotConforming, match="did not return") as why:
        trust.trust(session, contracts=[])
    assert len(folders) == 3
    assert f"kept: {folders[-1]}" in [*why.value.facts]


def test_a_helper_may_end_shortly_after_the_shim(tmp_path: Path) -> None:
    shim, said = tmp_path / "shim", list[str]()
    helper = f"cat >&2; exec {programs.slow_exit} /dev/null 100"
    shim.write_text(f'#!/bin/bash\nexec 2> >({helper})\nexec {REFERENCE} "$@"\n')
    shim.chmod(0o755)
    made = Session((str(shim),))
    try:
        trust.trust(made, said.append, contracts=[])
    finally:
        made.close()
    assert said[-1].startswith("`run REQUEST RESPONSE`: hello"), said


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the Python implementation into the current folder, as `my_shim.py`."""
    shim, folder = str(PYTHON_IMPLEMENTATION), str(PYTHON_IMPLEMENTATION.parent)
    script = f"import runpy, sys\nsys.argv[0] = {shim!r}\nsys.path.insert(0, {folder!r})\n"
    script += "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    (tmp_path / "my_shim.py").write_text(script)
    monkeypatch.chdir(tmp_path)


def trusted(command: str) -> None:
    made = Session(shim_argv(command))
    try:
        trust.trust(made, contracts=[])
    finally:
        made.close()


@pytest.mark.usefixtures("beside")
def test_a_shim_that_is_named_without_a_slash_is_found_in_every_folder() -> None:
    trusted(f"{sys.executable} -S my_shim.py")


@pytest.mark.usefixtures("beside")
def test_a_shim_found_only_in_the_callers_folder_is_named() -> None:
    with pytest.raises(UsageError, match=r"No module named my_shim .*by absolute paths") as why:
        trusted(f"{sys.executable} -m my_shim")
    assert "-m my_shim': does not answer in another folder" in str(why.value)
