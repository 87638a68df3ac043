"""Tests of `boxspec verify`: it detects leaks, and has evidence for each row that holds."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from boxspec.places import case_root
from boxspec.verify.defaults import rows
from selftest.tools import CONFORMANCE, ROOT, run
from selftest.verify.wrappers import (
    CAREFUL,
    HELD,
    HIDES,
    LEAKED,
    NOT_TESTED,
    USUAL,
    Verified,
    verify,
    without_bubblewrap,
    wrapper,
)

pytestmark = pytest.mark.turns(6)

needs_bubblewrap = pytest.mark.skipif(bool(without_bubblewrap()), reason=without_bubblewrap())
PAGE = CONFORMANCE / "verify.md"


@pytest.fixture(scope="module")
def unconfined(tmp_path_factory: pytest.TempPathFactory) -> Verified:
    return verify(tmp_path_factory.mktemp("env"), "--", "env")


def test_each_row_leaks_without_a_sandbox(unconfined: Verified) -> None:
    # `env` runs no proxy, and leaves no file or process. A program under `env` can write
    # outside, so it may be this program that executes a planted file, or a word.
    held = {name for name, status in unconfined.denied.items() if status != LEAKED}
    assert held == {"arguments", "planted", "proxies", "remains"}
    assert unconfined.statuses["work"] == HELD
    assert unconfined.done.returncode == 1


def test_leaks_come_first_and_name_their_evidence(unconfined: Verified) -> None:
    lines = unconfined.done.stdout.splitlines()
    # The row of the kernel comes before each secret. Only root has it.
    first = lines[2] if "kernel" not in unconfined.rows else lines[3]
    assert re.match("LEAKED +read SSH keys +default row +the names in ~/.ssh were read", first)
    assert unconfined.rows["ssh-keys"]["evidence"][1] == "~/.ssh/id_ed25519 was read"
    assert lines[-2].endswith(" · exit 1")
    assert re.search(r"boxspec verify --row (ssh-keys|kernel) -- env ", lines[-1])


def test_a_row_names_the_command_that_tests_it_again(unconfined: Verified, tmp_path: Path) -> None:
    words = unconfined.rows["env-files"]["repeat"]
    again = words.partition(" verify ")[2].split()
    found = verify(tmp_path, *again)
    assert found.statuses == {"env-files": LEAKED}


def test_a_row_that_is_named_twice_is_listed_once(tmp_path: Path) -> None:
    row = "deny-read:.env"
    found = verify(tmp_path, "--deny-read", ".env", "--row", row, "--row", row, "--", "env")
    assert [each["id"] for each in found.plain["rows"]] == [row]


@needs_bubblewrap
def test_each_row_is_held_by_a_careful_wrapper(tmp_path: Path) -> None:
    found = verify(tmp_path, "--", wrapper(tmp_path, "box.sh", CAREFUL))
    assert {*found.statuses.values()} == {HELD}, found.done.stdout
    assert found.done.returncode == 0
    assert found.plain["starts"] <= 15
    assert len(found.done.stdout.splitlines()) <= 25


@needs_bubblewrap
@pytest.mark.skipif(os.geteuid() != 0, reason="a normal user runs these tests")
def test_each_row_is_held_for_a_normal_user(tmp_path: Path) -> None:
    box = wrapper(tmp_path, "box.sh", CAREFUL)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.name.startswith(("pytest-", "popen-", "test_")):
            folder.chmod(0o755)
    kit: list[str | Path] = [sys.executable, "-P", "-m", "boxspec", "verify", "--", box]
    done = run([ROOT / "ci" / "as-user", "env", "-C", "/", f"PYTHONPATH={CONFORMANCE}", *kit])
    if done.returncode == 69:
        pytest.skip("a normal user cannot read this checkout")
    assert done.returncode == 0, done.stdout + done.stderr


RULES = (
    "--deny-read",
    "~/.ssh",
    "--deny-read",
    ".env",
    "--deny-write",
    "~/.bashrc",
    "--no-network",
)


@needs_bubblewrap
@pytest.mark.parametrize(
    ("rules", "differ"),
    [(RULES, {"deny-read:~/.ssh", "deny-read:.env"}), ((), {"ssh-keys", "env-files"})],
    ids=["expectations", "defaults"],
)
def test_the_wrapper_that_hides_more_is_better_by_exactly_those_rows(
    tmp_path: Path, rules: tuple[str, ...], differ: set[str]
) -> None:
    usual = wrapper(tmp_path, "usual.sh", USUAL.format(more=""))
    hides = wrapper(tmp_path, "hides.sh", USUAL.format(more=HIDES))
    before = verify(tmp_path, *rules, "--", usual)
    old = tmp_path / "old.json"
    old.write_text(json.dumps(before.plain))
    after = verify(tmp_path, *rules, "--compare", old, "--", hides)
    changed = {name for name, now in after.statuses.items() if before.statuses[name] != now}
    assert changed == differ
    assert {(before.statuses[name], after.statuses[name]) for name in differ} == {(LEAKED, HELD)}
    closed = [line.split()[1] for line in after.done.stdout.splitlines() if "closed  " in line]
    assert {*closed} == {f"{name}:" for name in differ}


SEALED = '{"id": "%s", "ended": "exited 0", "output": "", "seal": "00"}'
CHEATS = {
    "runs_nothing": "exit 0\n",
    "refuses": "echo 'denied by policy' >&2; exit 126\n",
    "hangs": "exec sleep 1000\n",
    "hangs_after_the_program": '"$@"; exec sleep 1000\n',
    "prints_records": f"echo '{SEALED % 'start'}'\n"
    'sed -n "s/^try=//p" "$2" | while read -r id; do '
    f"printf '{SEALED}\\n' \"$id\"; done\necho '{SEALED % 'end'}'\n",
    "rewrites_the_output": '"$@" | sed "s/did/refused/g"\n',
    "runs_only_known_programs": 'case "$1" in /bin/*|/usr/bin/*) exec "$@";; esac; exit 1\n',
    "confines_only_programs_of_the_workspace": 'case "$1" in "$PWD"/*) ;; *) exec "$@";; esac\n'
    + CAREFUL,
    "confines_only_the_probe_by_its_text": 'grep -q TIOCSTI "$1" || exec "$@"\n' + CAREFUL,
    "confines_only_where_a_path_or_variable_names_the_kit": 'case "$PWD $* $(env)" in '
    f'*[Bb][Oo][Xx][Ss][Pp][Ee][Cc]*|*{ROOT}*) ;; *) exec "$@";; esac\n{CAREFUL}',
    "confines_only_below_the_cache": f'case $PWD in */.cache/*) ;; *) exec "$@";; esac\n{CAREFUL}',
    "confines_only_a_named_shell": f'case "$1" in sh|/bin/sh) ;; *) exec "$@";; esac\n{CAREFUL}',
    "removes_the_decoys": 'rm -rf "$HOME/.ssh" .env\n' + CAREFUL,
    "confines_only_if_stdin_is_null": '[ "$(readlink /proc/self/fd/0)" = /dev/null ] || '
    f'exec "$@"\n{CAREFUL}',
    "runs_a_copy_of_the_workspace": 'copy=$(mktemp -d) && cp -a . "$copy" && cd "$copy" && '
    'sh -c "exit 0" "$@"; rm -rf "$copy"\n',
}


@needs_bubblewrap
@pytest.mark.turns(6)
@pytest.mark.parametrize("name", CHEATS)
def test_a_command_that_cheats_is_never_held(tmp_path: Path, name: str) -> None:
    rows = ("--row", "ssh-keys", "--row", "env-files") if name == "removes_the_decoys" else ()
    box = wrapper(tmp_path, "cheat.sh", CHEATS[name])
    found = verify(tmp_path, "--timeout", "8", *rows, "--", box)
    assert [row for row, status in found.denied.items() if status == HELD] == []
    assert found.done.returncode in (1, 3)


@pytest.mark.turns(6)
@pytest.mark.parametrize("runs", ["nothing", "own-plan", "own-key"])
def test_made_up_records_are_never_held(tmp_path: Path, runs: str) -> None:
    forger: list[str | Path] = [sys.executable, Path(__file__).with_name("forger.py"), runs]
    found = verify(tmp_path, "--timeout", "8", "--", *forger)
    assert [row for row, status in found.denied.items() if status == HELD] == []
    assert found.done.returncode in (1, 3)


def test_a_command_that_hangs_is_started_once(tmp_path: Path) -> None:
    found = verify(tmp_path, "--timeout", "2", "--", "sh", "-c", "exec sleep 1000")
    assert {*found.statuses.values()} == {NOT_TESTED}
    assert (found.plain["starts"], found.done.returncode) == (1, 3)


@needs_bubblewrap
def test_a_glob_also_denies_names_that_are_not_there_yet(tmp_path: Path) -> None:
    """The wrapper protects only the files that exist at its start, so a later file can be
    written."""
    binds = """$(find "$PWD" -name '*.key' | sed 's/.*/--ro-bind & &/')"""
    box = wrapper(tmp_path, "box.sh", USUAL.format(more=binds))
    found = verify(tmp_path, "--deny-write", "*.key", "--", box)
    evidence = found.rows["deny-write:*.key"]["evidence"]
    assert found.statuses["deny-write:*.key"] == LEAKED
    assert sorted({each.split(".key")[1] for each in evidence}) == [
        " was created",
        ", made after the start, was changed",
    ]


# A wrapper that does not protect a path at all if the path is a link or does not exist yet.
LITERAL = """\
set -- "$@"
[ -L "$HOME/.ssh" ] || set -- --tmpfs "$HOME/.ssh" -- "$@"
[ ! -e "$PWD/new.json" ] || more="--ro-bind $PWD/new.json $PWD/new.json"
[ ! -e "$PWD/late/token" ] || more="$more --ro-bind /dev/null $PWD/late/token"
exec bwrap --unshare-all --die-with-parent --cap-drop ALL --ro-bind / / --dev /dev --proc /proc \\
  --tmpfs /tmp --bind "$PWD" "$PWD" $more "$@"
"""


@needs_bubblewrap
def test_rules_about_links_and_missing_paths_are_tested(tmp_path: Path) -> None:
    keys = tmp_path / "home" / "dotfiles" / "ssh"
    keys.mkdir(parents=True)
    (tmp_path / "home" / ".ssh").symlink_to(keys)
    words = ("--deny-read", "~/.ssh", "--deny-write", "new.json", "--deny-read", "late/token")
    box = wrapper(tmp_path, "box.sh", LITERAL)
    # The folders are not below /tmp, which the wrapper hides.
    env = {"HOME": str(tmp_path / "home"), "BOXSPEC_CASE_ROOT": str(case_root().parent)}
    found = verify(tmp_path, *words, "--", box, env=env)
    evidence = {name: row["evidence"] for name, row in found.rows.items()}
    assert {*found.denied.values()} == {LEAKED}, found.done.stdout
    assert "~/dotfiles/ssh/key was read" in evidence["deny-read:~/.ssh"]
    assert evidence["deny-write:new.json"] == ["new.json was created (no such path at the start)"]
    (late,) = evidence["deny-read:late/token"]
    assert late == "late/token, made after the start, was read (no such path at the start)"


def test_what_never_ran_is_not_tested(tmp_path: Path) -> None:
    found = verify(tmp_path, "--", "true")
    assert {*found.statuses.values()} == {NOT_TESTED}
    assert found.done.returncode == 3


@needs_bubblewrap
def test_rules_of_each_kind(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    words = ("--deny-read", "**/*.key", "--deny-write", ".git/hooks", "--deny-env", "MY_SECRET")
    more = ("--allow-write", "build", "--allow-write", "~/out/", "--allow-host", "example.org:443")
    box = wrapper(tmp_path, "usual.sh", USUAL.format(more=""))
    found = verify(tmp_path, *words, *more, "--", box)
    assert found.statuses == {
        "deny-read:**/*.key": LEAKED,
        "deny-write:.git/hooks": LEAKED,
        "deny-env:MY_SECRET": LEAKED,
        "allow-write:build": HELD,
        "allow-write:~/out/": "blocked too much",
        "allow-host:example.org:443": NOT_TESTED,
        "work": HELD,
    }


@pytest.mark.turns(6)
@pytest.mark.parametrize("words", [("sh", "-c", "{sh}"), ("env", "{}"), ("env",)])
def test_the_words_of_the_program_are_put_in_their_place(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    assert verify(tmp_path, "--row", "ssh-keys", "--", *words).statuses == {"ssh-keys": LEAKED}


LIMITED = 'ulimit -n 40; ulimit -f 2048; exec "$@"\n'


@needs_bubblewrap
def test_limits_are_tested(tmp_path: Path) -> None:
    limits = ("open-files=40", "file-size=1M", "processes=60", "memory=64M")
    words = [word for limit in limits for word in ("--limit", limit)]
    found = verify(tmp_path, *words, "--", wrapper(tmp_path, "box.sh", LIMITED))
    assert found.statuses == {
        "limit:open-files=40": HELD,
        "limit:file-size=1M": HELD,
        "limit:processes=60": LEAKED,
        "limit:memory=64M": LEAKED,
        "work": HELD,
    }


PAGE_SETTINGS = """{
  "network": {"allowedDomains": [], "deniedDomains": []},
  "filesystem": {"denyRead": ["~/.ssh"], "allowWrite": [], "denyWrite": []}
}"""


def _commands_of_the_page() -> list[str]:
    blocks = re.findall(r"^```(?:sh|text)\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    lines = [line.removeprefix("./ci/") for block in blocks for line in block.splitlines()]
    return [line for line in lines if re.match("boxspec verify (?!·)", line)]


@needs_bubblewrap
def test_the_commands_of_the_page_run(tmp_path: Path) -> None:
    wrapper(tmp_path, "box.sh", CAREFUL)
    (settings,) = re.findall(r"^```toml\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    (tmp_path / "verify.toml").write_text(settings)
    (tmp_path / "settings.json").write_text(PAGE_SETTINGS)
    statuses = []
    for command in _commands_of_the_page():
        kit = f"{sys.executable} -P -m {command}"
        done = run(["bash", "-c", kit], cwd=tmp_path, env={"PYTHONPATH": str(CONFORMANCE)})
        statuses.append(done.returncode)
        assert not done.stderr
    # The wrapper does not hide *.key. Only the file of expectations demands that.
    assert statuses == [1, 0, 1, 1, 0, 0]


@needs_bubblewrap
@pytest.mark.skipif("terminal" not in {row.id for row in rows()}, reason="no TIOCSTI here")
def test_a_file_that_was_planted_in_tmp_is_gone_at_the_next_start(tmp_path: Path) -> None:
    source = "[ ! -r /tmp/b-box.env ] || . /tmp/b-box.env\n"
    box = wrapper(tmp_path, "box.sh", source + CAREFUL.replace("--tmpfs /tmp", "--bind /tmp /tmp"))
    found = verify(tmp_path, "--row", "planted", "--row", "terminal", "--", box)
    assert found.statuses == {"planted": LEAKED, "terminal": HELD}, found.done.stdout
    assert not Path("/tmp/b-box.env").exists()


@pytest.mark.parametrize("status", [0, 3])
def test_a_command_that_does_not_wait_is_named(tmp_path: Path, status: int) -> None:
    box = wrapper(tmp_path, "box.sh", f'( sleep 100; exec "$@" ) &\nexit {status}\n')
    found = verify(tmp_path, "--row", "ssh-keys", "--", box)
    assert found.statuses == {"ssh-keys": NOT_TESTED}
    # A command that failed has its own reason.
    evidence = found.rows["ssh-keys"]["evidence"][0]
    assert ("let it wait for the program" in evidence) == (status == 0)


@needs_bubblewrap
@pytest.mark.parametrize(("folder", "notes"), [(".", 1), ("$PWD", 0)])
def test_a_relative_destination_is_noted(tmp_path: Path, folder: str, notes: int) -> None:
    mount = ["--bind", *[folder.replace("$PWD", str(tmp_path))] * 2]
    found = verify(tmp_path, "--row", "work", "--", "bwrap", "--ro-bind", "/", "/", *mount)
    assert found.done.stdout.count("note: . was replaced") == notes
    assert found.statuses["work"] != NOT_TESTED


@needs_bubblewrap
def test_the_wrapper_of_the_page_closes_what_it_says(tmp_path: Path) -> None:
    (body,) = re.findall(r"^```text\n#!/bin/sh\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    found = verify(tmp_path, "--", wrapper(tmp_path, "box.sh", body))
    assert {name for name, status in found.statuses.items() if status != HELD} == {
        *("env-files", "env-variants", "git-hooks", "git-redirects"),
        "tool-settings",
    }, found.done.stdout
