"""Tests of rules that name unusual paths, and of commands that change the user."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from boxspec.verify.known_secrets import SECRETS
from boxspec.verify.reading import ReadFile, ReadLateFile
from boxspec.verify.rule import Rule
from boxspec.verify.rules import rows_of
from boxspec.verify.writing import NewFile, WriteFile, WriteLateFile
from selftest.tools import CONFORMANCE, boxspec
from selftest.verify.wrappers import HELD, LEAKED, NOT_TESTED, verify


@pytest.mark.parametrize(
    "rules",
    [
        ("--deny-read", "a", "--deny-write", "a/b"),
        ("--allow-write", "a/b", "--deny-read", "a"),
        ("--allow-write", "a", "--deny-write", "a/b/c"),
        ("--deny-read", "a/", "--deny-read", "a"),
        ("--deny-write", "a", "--deny-write", "a/*.key"),
        ("--deny-read", "~/.config/gh"),
        ("--deny-write", "a[b", "--deny-read", "a"),
    ],
)
def test_a_path_above_another_rule_is_a_folder(tmp_path: Path, rules: tuple[str, ...]) -> None:
    found = verify(tmp_path, *rules, "--", "env")
    wild = "deny-write:a[b"
    leaked = {name for name, status in found.denied.items() if status == LEAKED}
    assert leaked == {*found.denied} - {wild}


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("x" * 256, "no file has a name of more than 255 bytes"),
        ("[", "the kit can make no name that [ matches"),
        ("[!a]", "the kit can make no name that [!a] matches"),
        ("file/below", "file is a file, and nothing can lie below it"),
    ],
)
def test_a_path_that_cannot_be_made_is_not_tested(tmp_path: Path, path: str, why: str) -> None:
    (tmp_path / "file").touch()
    found = verify(tmp_path, "--deny-read", path, "--deny-read", "file", "--", "env")
    assert found.statuses["deny-read:file"] == LEAKED
    assert found.statuses[f"deny-read:{path}"] == NOT_TESTED
    assert found.rows[f"deny-read:{path}"]["evidence"] == [why]


def test_a_name_of_a_variable_with_an_equals_sign_is_not_tested(tmp_path: Path) -> None:
    found = verify(tmp_path, "--deny-env", "A=B", "--", "env")
    assert found.rows["deny-env:A=B"]["evidence"] == ["the name of a variable has no ="]


def test_an_amount_above_that_of_the_kit_is_not_tested(tmp_path: Path) -> None:
    found = verify(tmp_path, "--limit", "memory=900G", "--", "env")
    assert found.rows["limit:memory=900G"]["evidence"] == ["the kit tests amounts up to 8G"]


def test_a_broken_settings_file_is_explained(tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text('{"filesystem":')
    env = {"PYTHONPATH": str(CONFORMANCE)}
    done = boxspec("verify", "--from", "srt", settings, "--", "env", cwd=tmp_path, env=env)
    assert done.returncode == 2
    assert "the file is not valid JSON" in done.stdout
    assert "has no rule that can be tested" in done.stderr


@pytest.mark.parametrize("value", ["", "a\nb"])
def test_a_value_is_a_text_of_one_line(tmp_path: Path, value: str) -> None:
    env = {"PYTHONPATH": str(CONFORMANCE)}
    done = boxspec("verify", "--deny-read", value, "--", "env", cwd=tmp_path, env=env)
    assert done.returncode == 2
    assert done.stderr.startswith("boxspec: --deny-read: takes a text of one line")


AS_OTHER_USER = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--")
needs_other_user = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None, reason="only root can change the user"
)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can enter."""
    folder = Path("/var/tmp") / f"boxspec-{os.getpid()}-rules"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@needs_other_user
def test_a_decoy_has_the_mode_that_its_program_gives_it(tmp_path: Path, open_folder: Path) -> None:
    """A program of another user cannot read the secrets of its caller."""
    env = {"BOXSPEC_CASE_ROOT": str(open_folder), "HOME": str(tmp_path)}
    rows = [word for name in ("ssh-keys", *SECRETS) for word in ("--row", name)]
    found = verify(tmp_path, *rows, "--", *AS_OTHER_USER, env=env)
    assert {*found.denied.values()} == {HELD}, found.done.stdout


@needs_other_user
def test_a_decoy_has_the_mode_of_the_users_own_file(tmp_path: Path, open_folder: Path) -> None:
    for name, mode in (("open", 0o644), ("closed", 0o600), (".netrc", 0o644)):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(mode)
    (tmp_path / "private").mkdir(mode=0o700)
    (tmp_path / "private" / "key").touch()
    expected = {"open": LEAKED, "closed": HELD, ".netrc": LEAKED, "private/key": HELD}
    env = {"BOXSPEC_CASE_ROOT": str(open_folder), "HOME": str(tmp_path)}
    rules = [word for name in expected for word in ("--deny-read", f"~/{name}")]
    found = verify(tmp_path, *rules, "--", *AS_OTHER_USER, env=env)
    assert found.denied == {f"deny-read:~/{name}": status for name, status in expected.items()}


@needs_other_user
def test_a_late_decoy_lies_in_a_folder_with_the_mode_of_the_users_own(
    tmp_path: Path, open_folder: Path
) -> None:
    for name, mode in (("open", 0o755), ("closed", 0o700)):
        (tmp_path / name).mkdir(mode=mode)
    env = {"BOXSPEC_CASE_ROOT": str(open_folder), "HOME": str(tmp_path)}
    rules = [word for name in ("open", "closed") for word in ("--deny-read", f"~/{name}/*.key")]
    found = verify(tmp_path, *rules, "--", *AS_OTHER_USER, env=env)
    evidence = found.rows["deny-read:~/open/*.key"]["evidence"]
    assert any("made after the start" in each for each in evidence)
    assert found.statuses["deny-read:~/closed/*.key"] == HELD


@needs_other_user
def test_a_user_who_cannot_enter_the_folders_gets_a_remedy(open_folder: Path) -> None:
    closed = open_folder / "closed"
    closed.mkdir(mode=0o700)
    env = {"BOXSPEC_CASE_ROOT": str(closed)}
    found = verify(open_folder, "--row", "env-files", "--", *AS_OTHER_USER, env=env)
    evidence = " ".join(found.rows["env-files"]["evidence"])
    assert f"other users cannot enter {closed}" in evidence
    assert "BOXSPEC_CASE_ROOT" in evidence


@pytest.mark.parametrize("kind", ["deny-read", "deny-write"])
@pytest.mark.parametrize("glob", ["**/Makefile", "*.key", ".en[v]", "a/**"])
def test_no_late_file_replaces_one_that_exists_at_the_start(kind: str, glob: str) -> None:
    """The kit itself would change the file, and the command would be blamed for it."""
    (row,) = rows_of([Rule(kind, glob, "here")], Path("/nowhere"), Path("/nowhere/work"))
    late = (ReadLateFile, WriteLateFile, NewFile)
    first = {each.place for each in row.targets if isinstance(each, ReadFile | WriteFile)}
    assert first
    assert first.isdisjoint(each.place for each in row.targets if isinstance(each, late))
