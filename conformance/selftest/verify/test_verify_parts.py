"""Tests of parts of `boxspec verify`: paths of rules, words of the command, records, the
janitor."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import subprocess
import time
from pathlib import Path

import pytest

from boxspec.errors import UsageError
from boxspec.folders import owner
from boxspec.subject.observe.probes import table
from boxspec.verify import reading
from boxspec.verify.below import files_below
from boxspec.verify.command import Command
from boxspec.verify.defaults import rows
from boxspec.verify.errors import UntestableError
from boxspec.verify.host import Host
from boxspec.verify.janitor import Janitor, remove_abandoned
from boxspec.verify.paths import Place, examples, place_of
from boxspec.verify.plan import Plan
from boxspec.verify.row import Attempt
from boxspec.verify.rules import read_settings
from boxspec.verify.scene import Scene

HOME, CWD = Path("/home/u"), Path("/home/u/project")


@pytest.mark.parametrize(
    ("word", "place"),
    [
        ("~/.ssh", Place("~", ".ssh")),
        ("~", Place("~", "")),
        ("/home/u/.ssh/", Place("~", ".ssh/")),
        (".env", Place(".", ".env")),
        ("./a//b", Place(".", "a/b")),
        ("/home/u/project/.git/hooks", Place(".", ".git/hooks")),
        ("/home/u/project", Place(".", "")),
        ("/home/user/x", Place("/", "home/user/x")),
        ("/etc/passwd", Place("/", "etc/passwd")),
    ],
)
def test_a_path_of_a_rule_has_one_place(word: str, place: Place) -> None:
    assert place_of(word, HOME, CWD) == place


def test_the_home_directory_is_found_below_the_callers_folder() -> None:
    assert place_of("/home/u/.ssh", HOME, Path("/home")) == Place("~", ".ssh")
    assert place_of("/home/u/.ssh", HOME, HOME) == Place("~", ".ssh")
    assert place_of("/home/v", HOME, Path("/home")) == Place(".", "v")


def test_names_that_are_not_utf_8_are_left_out(tmp_path: Path) -> None:
    (tmp_path / ".keep").mkdir()
    for name in (b"a\xff", b"b"):
        (tmp_path / ".keep" / os.fsdecode(name)).touch()
    place = Place("~", ".keep")
    assert files_below(place, tmp_path, tmp_path / "work") == [Place("~", ".keep/b")]
    with pytest.raises(UntestableError, match="not UTF-8"):
        place_of(f"{tmp_path}/{os.fsdecode(bytes([0xFF]))}", tmp_path, tmp_path / "work")


@pytest.mark.parametrize("folder", ["{}/home", "{}/real"])
def test_a_home_directory_behind_a_link_has_two_spellings(tmp_path: Path, folder: str) -> None:
    (tmp_path / "real" / "project").mkdir(parents=True)
    (tmp_path / "home").symlink_to("real")
    home, cwd, word = tmp_path / "home", tmp_path / "real" / "project", folder.format(tmp_path)
    assert place_of(f"{word}/.ssh", home, cwd) == Place("~", ".ssh")
    assert place_of(f"{word}/project/.env", home, cwd) == Place(".", ".env")
    assert place_of(f"{word}2/.env", home, cwd).base == "/"


@pytest.mark.parametrize("word", ["", "~other/x", "../x", "a/../b", "/home/u/../v"])
def test_a_path_that_cannot_be_tested_has_a_reason(word: str) -> None:
    with pytest.raises(UntestableError) as raised:
        place_of(word, HOME, CWD)
    assert str(raised.value)


@pytest.mark.parametrize(
    ("glob", "matches"),
    [
        ("**/*.key", [r"[^/]+\.key", r"[^/]+/[^/]+/[^/]+\.key"]),
        ("*.pem", [r"[^/]+\.pem"]),
        ("secrets/**", [r"secrets/[^/]+", r"secrets/([^/]+/){2}[^/]+"]),
        ("a?c", [r"a[^/]c"]),
        ("[xy]z", [r"xz"]),
        ("plain", [r"plain"]),
    ],
)
def test_a_glob_has_examples_that_it_matches(glob: str, matches: list[str]) -> None:
    found = [each.rest for each in examples(Place(".", glob))]
    assert len(found) == len(matches)
    assert all(re.fullmatch(match, rest) for match, rest in zip(matches, found, strict=True))


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setenv("BOXSPEC_CASE_ROOT", str(tmp_path / "caches"))
    (tmp_path / "caches").mkdir()
    with Janitor() as janitor, Scene(janitor) as made:
        yield made


def test_a_command_without_run_bit_is_named(tmp_path: Path) -> None:
    (tmp_path / "box.sh").write_text("#!/bin/sh\n")
    with pytest.raises(UsageError, match=r"^\./box\.sh: has no run bit \(chmod \+x \./box\.sh\)"):
        Command(["./box.sh"], tmp_path, tmp_path, os.environ["PATH"])


def test_words_that_name_decoys_lead_to_the_scene(scene: Scene, tmp_path: Path) -> None:
    home, cwd = tmp_path / "home", tmp_path / "home" / "project"
    cwd.mkdir(parents=True)
    (cwd / "settings.json").write_text("{}")
    (cwd / ".env").write_text("")
    scene.decoy(scene.home / ".ssh" / "id")
    scene.decoy(scene.root / ".env")
    words = ["env", f"{home}/.ssh", f"--hide={home}/.ssh:{home}/.config", f"{home}/bin/x", ".env"]
    words += ["settings.json", ".", "{home}/y", "{cwd}", str(cwd)]
    made = Command(words, home, cwd, os.environ["PATH"]).argv(scene, ["p"])
    assert made[1:] == [
        *(f"{scene.home}/.ssh", f"--hide={scene.home}/.ssh:{home}/.config", f"{home}/bin/x"),
        *(".env", f"{cwd}/settings.json", str(scene.root), f"{scene.home}/y", str(cwd)),
        *(str(scene.root), "p"),
    ]


def test_a_record_counts_only_with_its_seal(scene: Scene) -> None:
    attempt = Attempt("r_secret", "", {"path": "/etc/hostname"}, lambda said: [])
    plan = Plan.of_attempts(scene, [attempt])
    digest = hashlib.sha256(plan.path.read_bytes()).hexdigest()

    def record(output: str, *sealed: str) -> bytes:
        parts = "".join(f"{part}\0" for part in (*sealed[:2], attempt.id, "exited 0", sealed[2]))
        seal = hashlib.sha256(parts.encode()).hexdigest()
        fields = {"id": attempt.id, "ended": "exited 0", "output": output, "seal": seal}
        return json.dumps(fields).encode()

    key = plan.witness.key
    assert [*plan.records(record("a", key, digest, "a"))] == [attempt.id]
    assert plan.records(record("a", key, digest, "b")) == {}
    assert plan.records(record("a", "", digest, "a")) == {}
    assert plan.records(record("a", key, "", "a")) == {}
    assert plan.records(b'[1]\n{"id": 3}\nnull\n{"id": "x", "seal": "y"}') == {}


def test_the_key_is_in_no_file_of_the_scene(scene: Scene) -> None:
    key = Plan(scene, []).witness.key.encode()
    files = [path for path in scene.base.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if key in path.read_bytes()] == []


@pytest.mark.parametrize("same", [True, False])
def test_only_a_process_of_the_program_gets_the_key(scene: Scene, same: bool) -> None:
    witness = Plan(scene, []).witness
    if not same:
        with scene.program.open("ab") as file:
            file.write(b"changed")
    plan = scene.fresh(scene.root)
    plan.write_text("report=/dev/null\n")
    process = subprocess.Popen([scene.program, plan], stdout=subprocess.DEVNULL)
    while process.poll() is None and not witness.look():
        time.sleep(0.001)
    process.kill()
    process.wait()
    assert witness.found == same
    assert witness.why == ("" if same else "another program ran with the name of the program")


def test_nothing_in_a_scene_names_the_kit(scene: Scene) -> None:
    for row in rows():
        for target in row.targets:
            target.attempts(scene)
            target.lines(scene)
    names = [str(path.relative_to(scene.base.parent)) for path in scene.base.rglob("*")]
    env = scene.environment({"BOXSPEC_CASE_ROOT": "x", "PATH": "/bin"})
    assert [each for each in (*names, *env) if "boxspec" in each.lower()] == []


def test_each_attempt_is_of_the_table_of_probes(scene: Scene) -> None:
    found = {
        attempt.probe
        for row in rows()
        for target in row.targets
        for attempt in target.attempts(scene)
    }
    assert found <= {*table()}


@pytest.mark.parametrize(
    ("path", "folders"),
    [("/m/a/b/key", ("/m/a/b", "/m/a")), ("/m/a/key", ("/m/a", "/m/a")), ("/m/key", None)],
)
def test_no_mount_of_the_host_is_unmounted(
    path: str, folders: tuple[str, str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os.path, "ismount", lambda each: str(each) in ("/", "/m"))
    found = reading._folders_to_unmount(Path(path))
    assert tuple(map(str, found.values())) == (folders or ())


def test_a_run_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    left = tmp_path / "left"
    (left / "below").mkdir(parents=True)
    register = tmp_path / "register"
    register.mkdir()
    _, _, namespace = owner().split("-")
    dead = register / f"999999999-1-{namespace}-ab"
    mine = register / f"{os.getpid()}-0-{namespace}-ab"
    for entry in (dead, mine):
        entry.write_text(json.dumps(str(left)) + "\n")
    mine.unlink()
    remove_abandoned(register)
    assert (left.exists(), dead.exists()) == (False, False)


@pytest.mark.parametrize(
    "text",
    [
        'deny-read = "~/.ssh"',
        'deny-read = [["~/.ssh"]]',
        'deny-reed = ["~/.ssh"]',
        'no-network = "yes"',
        "no-network",
        'deny-env = ["A", 1]',
    ],
)
def test_a_file_with_a_wrong_entry_is_refused_by_its_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "verify.toml"
    path.write_text(text + "\n")
    with pytest.raises(UsageError) as raised:
        read_settings(path)
    assert raised.value.place == str(path)


def test_an_object_of_another_run_of_the_kit_is_not_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOXSPEC_CASE_ROOT", str(tmp_path))
    file = Path("/dev/shm") / secrets.token_hex(8)
    host = Host()
    host.note()
    with Janitor() as other:
        other.remove(file)
        file.touch()
        # Tests that run at the same time may leave other objects.
        assert f"{file} was left" not in host.left()
    file.touch()
    try:
        assert f"{file} was left" in host.left()
    finally:
        file.unlink()
