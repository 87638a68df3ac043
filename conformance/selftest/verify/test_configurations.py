"""Tests that a row names each mistake of a configuration, and that the corrected configuration
raises no alarm."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from boxspec.verify.defaults import rows
from boxspec.verify.kernel import disks
from boxspec.verify.system_files import folders_of_the_system
from contracts.backend.host import landlock_abi
from selftest.verify.configurations import CONFIGURATIONS, NO_HOME, USUAL
from selftest.verify.configurations_of_launchers import OF_LAUNCHERS
from selftest.verify.configurations_of_places import OF_PLACES
from selftest.verify.configurations_of_secrets import OF_SECRETS
from selftest.verify.configurations_of_starts import OF_STARTS
from selftest.verify.configurations_of_surroundings import OF_SURROUNDINGS
from selftest.verify.configurations_of_words import OF_WORDS
from selftest.verify.wrappers import Verified, verify, without_bubblewrap, wrapper

pytestmark = pytest.mark.skipif(bool(without_bubblewrap()), reason=without_bubblewrap())
FINE = ("held",)
EVERY = {
    **{**CONFIGURATIONS, **OF_PLACES, **OF_LAUNCHERS, **OF_STARTS},
    **{**OF_SECRETS, **OF_WORDS, **OF_SURROUNDINGS},
}


def _verified(folder: Path, name: str, part: str) -> Verified:
    found = EVERY[name]
    box = wrapper(folder, "box.sh", found.body.replace("{}", part))
    return verify(folder, *found.asked, "--", box)


@pytest.mark.turns(10)
@pytest.mark.parametrize("name", EVERY)
def test_the_mistake_is_named_and_the_correction_is_not(tmp_path: Path, name: str) -> None:
    found = EVERY[name]
    if found.only_root and os.geteuid() != 0:
        pytest.skip("only root has the privilege")
    if found.needs and shutil.which(found.needs) is None:
        pytest.skip(f"{found.needs} is not installed")
    if landlock_abi() < found.landlock:
        pytest.skip(f"Landlock is older than version {found.landlock}")
    if found.machine not in ("", os.uname().machine):
        pytest.skip(f"the script is written for {found.machine}")
    if found.folder and Path(found.folder) not in folders_of_the_system():
        pytest.skip(f"no file can be made in {found.folder}")
    if found.disk and not disks():
        pytest.skip("this host refuses to open its disk")
    if "--row" in found.asked and found.row not in {row.id for row in rows()}:
        pytest.skip("this host or this user cannot ask the row")
    wrong = _verified(tmp_path, name, found.wrong)
    bad = {row: status for row, status in wrong.statuses.items() if status not in FINE}
    assert bad == {found.row: found.status}, wrong.done.stdout
    right = _verified(tmp_path, name, found.right)
    assert {*right.statuses.values()} == {*FINE}, right.done.stdout


@pytest.mark.turns(5)
def test_hooks_at_the_place_that_the_settings_of_git_name(tmp_path: Path) -> None:
    """The settings of the copied workspace have core.hooksPath."""
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / ".git/config").write_text("[core]\n\thooksPath = .githooks\n")
    body = USUAL.format(f'{NO_HOME} --ro-bind "$PWD/.git" "$PWD/.git"')
    box = wrapper(tmp_path, "box.sh", body)
    found = verify(tmp_path, "--root", project, "--row", "git-hooks", "--", box)
    evidence = found.rows["git-hooks"]["evidence"]
    assert evidence
    assert [each for each in evidence if ".githooks" not in each] == []


def test_there_are_at_least_twenty_mistakes() -> None:
    assert len(CONFIGURATIONS) >= 20
