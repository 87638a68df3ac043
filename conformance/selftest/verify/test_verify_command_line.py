"""Tests of the command line of `boxspec verify`: expectations, rules of other tools, outputs."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from jsonschema_rs import Validator

from selftest.tools import CONFORMANCE, boxspec
from selftest.verify.wrappers import (
    HIDES,
    LEAKED,
    USUAL,
    verify,
    without_bubblewrap,
    wrapper,
)

pytestmark = pytest.mark.turns(6)

needs_bubblewrap = pytest.mark.skipif(bool(without_bubblewrap()), reason=without_bubblewrap())
SARIF = CONFORMANCE / "boxspec" / "report" / "schemas" / "sarif.json"


def test_the_result_is_written_for_builds(tmp_path: Path) -> None:
    junit, page = tmp_path / "a.xml", tmp_path / "a.md"
    verify(tmp_path, "--row", "env-files", "--junit", junit, "--md", page, "--", "env")
    case = ET.parse(junit).getroot().find("testcase")
    assert case is not None
    failure = case.find("failure")
    assert failure is not None
    assert (case.get("name"), failure.get("type")) == ("env-files", LEAKED)
    assert "| LEAKED | read .env in the workspace | .env was read;" in page.read_text()


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--", "./not-there"),
        ("--row", "ssh-kays", "--", "env"),
        ("settings.toml", "--", "env"),
        ("--timeout", "0", "--", "env"),
        ("--allow-host", "nowhere", "--", "env"),
    ],
)
def test_wrong_use_has_status_2_and_one_line(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "settings.toml").write_text('deny-read = ["~/.ssh", 7]\n')
    done = boxspec("verify", *words, cwd=tmp_path, env={"PYTHONPATH": str(CONFORMANCE)})
    assert done.returncode == 2, done.stdout
    assert len(done.stderr.splitlines()) == 1


BARE = "boxspec verify -- bwrap"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("bwrap", f"for a command, write {BARE})"),
        ("bwrap --ro-bind / / --", f"write {BARE} --ro-bind / / --)"),
        ("--deny-read .env ./box.sh -x", "boxspec verify --deny-read .env -- ./box.sh -x)"),
        ("--from claude a.json env", "boxspec verify --from claude a.json -- env)"),
        ("docker run -it image", "boxspec verify -- docker run -it image)"),
        ("env -- env", "boxspec verify -- env -- env)"),
        (".", "is a folder, not a file with expectations (boxspec verify --root . -- COMMAND)"),
        ("no.toml -- env", "no.toml: cannot be read: No such file"),
        ("--no-network=yes -- env", "--no-network takes no value, not 'yes'"),
        ("--from bash x -- env", "--from bash: no such format (known: bwrap, claude, codex"),
    ],
)
def test_a_wrong_call_says_what_to_type(tmp_path: Path, words: str, said: str) -> None:
    done = boxspec("verify", *words.split(), cwd=tmp_path, env={"PYTHONPATH": str(CONFORMANCE)})
    assert said in done.stderr
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)


def test_a_command_in_one_word_is_shown_in_several(tmp_path: Path) -> None:
    how = {"cwd": tmp_path, "env": {"PYTHONPATH": str(CONFORMANCE)}}
    done = boxspec("verify", "bwrap --ro-bind / /", **how)
    assert f"write {BARE} --ro-bind / /)" in done.stderr


def test_expectations_come_from_a_file_with_their_lines(tmp_path: Path) -> None:
    settings = tmp_path / "verify.toml"
    settings.write_text('command = ["env"]\nno-network = true\ndeny-read = [\n  "~/.ssh",\n]\n')
    found = verify(tmp_path, settings)
    origins = {name: row["origin"] for name, row in found.rows.items()}
    assert origins["deny-read:~/.ssh"] == "verify.toml:4"
    assert origins["no-network"] == "verify.toml:2"
    assert found.statuses["deny-read:~/.ssh"] == LEAKED


SRT = """\
{"network": {"allowedDomains": [], "deniedDomains": []},
 "filesystem": {
   "denyRead": ["~/.ssh", 7],
   "denyWrite": ["*.lock"], "allowWrite": []}}
"""


@needs_bubblewrap
def test_rules_of_another_tool_have_a_verdict_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(SRT)
    box = wrapper(tmp_path, "box.sh", USUAL.format(more=HIDES))
    found = verify(tmp_path, "--from", "srt", "s.json", "--", box)
    assert [(each["origin"], each["value"], each["observed"]) for each in found.plain["rules"]] == [
        ("s.json:1", "(no domain)", "enforced"),
        ("s.json:3", "7", None),
        ("s.json:3", "~/.ssh", "enforced"),
        ("s.json:4", "*.lock", "dead"),
    ]
    assert found.rows["deny-write:*.lock"]["origin"] == "s.json:4"
    assert "s.json:4  dead " in found.done.stdout
    assert found.done.returncode == 1


def test_rules_with_absolute_paths_have_a_verdict_too(tmp_path: Path) -> None:
    (tmp_path / "args").write_text(f"--tmpfs {tmp_path}/a/\n--tmpfs {tmp_path}/a/\n")
    found = verify(tmp_path, "--from", "bwrap", "args", "--", "env")
    rules = found.plain["rules"]
    assert [(each["rows"], each["observed"]) for each in rules] == [(["deny-read:a/"], "dead")] * 2


def test_findings_are_sarif_with_the_line_of_their_rule(tmp_path: Path) -> None:
    (tmp_path / "my settings.toml").write_text('deny-env = [\n  "MY_TOKEN",\n]\n')
    verify(tmp_path, tmp_path / "my settings.toml", "--sarif", tmp_path / "a.sarif", "--", "env")
    document = json.loads((tmp_path / "a.sarif").read_text())
    Validator(json.loads(SARIF.read_text())).validate(document)
    (run_,) = document["runs"]
    (finding,) = run_["results"]
    place = finding["locations"][0]["physicalLocation"]
    assert (finding["ruleId"], finding["level"]) == ("deny-env:MY_TOKEN", "error")
    assert place["artifactLocation"]["uri"] == "my%20settings.toml"
    assert place["region"]["startLine"] == 2
