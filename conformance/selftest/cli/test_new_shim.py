"""Tests of `new-shim`: its output builds with the commands that it prints, and passes the trust
checks."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from boxspec import places
from boxspec.cli import new_shim as cli
from boxspec.cli.new_shim import LACKS, SHARED, YOURS, contracts
from boxspec.errors import UsageError
from boxspec.judge.requirements import load
from boxspec.places import TEMPLATES
from selftest.tools import ROOT, Done, boxspec, run

pytestmark = pytest.mark.turns(6)

TOOLS = {"go": ["go"], "rust": ["cargo"], "node": ["node"], "c": ["cc", "make"], "python": []}


def missing(language: str) -> str | None:
    """Return the tool that is missing to build or run a shim in this language."""
    lacks = [tool for tool in TOOLS[language] if shutil.which(tool) is None]
    if language == "c" and not lacks:
        found = subprocess.run(["pkg-config", "--exists", "libcjson"], check=False)
        lacks = ["libcjson"] if found.returncode else []
    return ", ".join(lacks) or None


# The command of the kit from outside the checkout.
KIT = shlex.quote(str(ROOT / "ci" / "boxspec"))


# Each template: a contract and a language.
TEMPLATE = [(name, language) for name, known in contracts().items() for language in known]


def new_shim(language: str, folder: Path, contract: str = "exec") -> list[str]:
    """Create and build a new shim as printed; return the printed commands of the kit."""
    done = boxspec("new-shim", language, "mine", "--contract", contract, cwd=folder)
    assert done.returncode == 0, done.stderr
    commands = [line.strip() for line in done.stdout.splitlines() if line.startswith("  ")]
    for command in commands:
        if not command.startswith(KIT):
            built = run(["sh", "-c", command], cwd=folder)
            assert built.returncode == 0, built.stdout + built.stderr
    return [command for command in commands if command.startswith(KIT)]


def run_printed(command: str, folder: Path) -> Done:
    """Run a printed command without the setup and build steps of ci/boxspec."""
    kit = f"{sys.executable} -P -m boxspec"
    return run(["sh", "-c", command.replace(KIT, kit, 1)], cwd=folder)


@pytest.mark.parametrize(("contract", "language"), TEMPLATE)
def test_a_new_shim_may_be_scored_at_once(contract: str, language: str, tmp_path: Path) -> None:
    lacks = missing(language)
    if lacks:
        pytest.skip(f"{language}: this machine lacks {lacks}")
    smoke, judge = new_shim(language, tmp_path, contract)
    assert f"--contract {contract}" in judge
    done = run_printed(smoke, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    (passed,) = [line for line in done.stdout.splitlines() if "passed the trust checks" in line]
    declared = passed.partition("it declares ")[2].split(", ")
    assert contract in declared


def test_the_build_in_c_names_its_library(tmp_path: Path) -> None:
    done = boxspec("new-shim", "c", "mine", cwd=tmp_path)
    assert "needs cJSON and pkg-config (Debian: apt-get install libcjson-dev)" in done.stdout


def test_a_contract_without_a_template_in_the_language_names_those_that_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "contracts", lambda: {"backend": ["python", "go"]})
    with pytest.raises(UsageError, match=r"has no template in node \(take python or go\)"):
        cli.new_shim("node", tmp_path / "mine", "backend")
    assert not (tmp_path / "mine").exists()


def test_the_one_in_c_gives_any_bytes_as_text(tmp_path: Path) -> None:
    lacks = missing("c")
    if lacks:
        pytest.skip(f"c: this machine lacks {lacks}")
    _, judge = new_shim("c", tmp_path)
    # One text contains NULs, the other one ends in the middle of a character: both need the base64
    # form.
    few = "nothing_is_trimmed and NUL or each_maximal_subpart and 61"
    done = run_printed(f"{judge} -k {shlex.quote(few)}", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\nPASS  2 of 2 required" in done.stdout


# Required requirements that an unchanged template once failed. A verdict about them was then no
# verdict about the author's code.
CONFORMS = {
    "backend": (
        *("BACKEND-SESSION-03", "BACKEND-EGRESS-01", "BACKEND-EGRESS-02"),
        "BACKEND-WRITE-02",
    ),
    "process": ("PROCESS-WAIT-01", "PROCESS-DROP-01"),
    "policy": (
        *("POLICY-CHECK-01", "POLICY-CHECK-02", "POLICY-MERGE-01", "POLICY-MERGE-02"),
        *("POLICY-PROFILE-03", "POLICY-PROFILE-04", "POLICY-VALID-07", "POLICY-FILE-18"),
    ),
    "module": (
        *("MODULE-DIR-02", "MODULE-ENV-03", "MODULE-JSON-01", "MODULE-JSON-02"),
        *("MODULE-ORDER-01", "MODULE-TIME-01"),
    ),
}


@pytest.mark.turns(10)
@pytest.mark.parametrize(
    ("contract", "language"), [each for each in TEMPLATE if each[0] in CONFORMS]
)
def test_a_new_shim_conforms_as_made(contract: str, language: str, tmp_path: Path) -> None:
    lacks = missing(language) or ("" if contract != "backend" or shutil.which("bwrap") else "bwrap")
    if lacks:
        pytest.skip(f"{language}: this machine lacks {lacks}")
    _, judge = new_shim(language, tmp_path, contract)
    kept = [each for each in CONFORMS[contract] if each not in LACKS.get((contract, language), {})]
    done = run_printed(f"{judge} {' '.join(kept)} --profile all", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.turns(10)
def test_the_bridge_in_c_gives_the_group_its_grace(tmp_path: Path) -> None:
    lacks = missing("c")
    if lacks:
        pytest.skip(f"c: this machine lacks {lacks}")
    _, judge = new_shim("c", tmp_path, "process")
    done = run_printed(f"{judge} PROCESS-BRIDGE-03 PROCESS-BRIDGE-07 --profile all", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("contract", "language"), LACKS)
def test_a_rule_that_the_language_breaks_is_named_and_fails(
    contract: str, language: str, tmp_path: Path
) -> None:
    lacks = missing(language)
    if lacks:
        pytest.skip(f"{language}: this machine lacks {lacks}")
    done = boxspec("new-shim", language, "mine", "--contract", contract, cwd=tmp_path)
    requirements = LACKS[contract, language]
    for requirement, why in requirements.items():
        assert f"{why}. The failure of {requirement} is yours to fix." in done.stdout
    judge = done.stdout.splitlines()[2].strip()
    done = run_printed(f"{judge} {' '.join(requirements)}", tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{len(requirements)} required fail" in done.stdout


@pytest.mark.turns(10)
def test_the_one_for_exec_names_the_topics_of_its_failures(tmp_path: Path) -> None:
    """All other topics conform without a change, and in Python two of the topics above. The short
    ones run here."""
    done = boxspec("new-shim", "python", "mine", cwd=tmp_path)
    (line,) = [line for line in done.stdout.splitlines() if "are yours to fix" in line]
    topics = {each.topic for each in load().values() if each.contract == "exec"}
    assert {*re.findall("EXEC-[A-Z]+", line)} == {*YOURS} < topics
    others = [f"--topic {each}" for each in ("EXEC-ENV", "EXEC-PATH", "EXEC-REQUEST", "EXEC-TEXT")]
    judge = done.stdout.splitlines()[2].strip()
    done = run_printed(f"{judge} --profile contract {' '.join(others)}", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


COUNTS = {"Three": 3, "Four": 4, "Five": 5}


@pytest.mark.parametrize(("contract", "language"), TEMPLATE)
def test_a_template_is_short_and_counts_the_places_to_fill_in(contract: str, language: str) -> None:
    folders = [TEMPLATES / contract / language, TEMPLATES / SHARED / language]
    files = [path for folder in folders for path in folder.rglob("*.*") if path.is_file()]
    texts = [path.read_text() for path in files if "__pycache__" not in path.parts]
    assert max(text.count("\n") for text in texts) <= 100
    whole = "\n".join(texts)
    (stated,) = re.findall(r"(\w+) places say FILL IN", whole, re.I)
    assert (
        len(re.findall(r"FILL IN:", whole)) - len(re.findall(r"say FILL IN:", whole))
        == COUNTS[stated.capitalize()]
    )


def test_a_folder_with_files_is_not_changed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("precious")
    for name in ("mine", "full"):
        done = boxspec("new-shim", "python", name, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert "is not empty (name a new folder)" in done.stderr
    assert os.listdir(tmp_path / "full") == ["file"]


def test_the_commands_work_in_the_folder_of_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert places.command_from(ROOT) == "./ci/boxspec"
    # The path of this checkout contains a blank, which a shell would split.
    root = tmp_path / "a checkout"
    (root / "ci").mkdir(parents=True)
    (root / "ci" / "boxspec").write_text("#!/bin/sh\necho ours $1\n")
    (root / "ci" / "boxspec").chmod(0o755)
    monkeypatch.setattr(places, "ROOT", root)
    for folder in (root, root / "ci", root / "below" / "it", tmp_path):
        folder.mkdir(parents=True, exist_ok=True)
        said = run(["sh", "-c", f"{places.command_from(folder)} smoke"], cwd=folder)
        assert said.stdout == "ours smoke\n", (folder, said.stderr)
    monkeypatch.setattr(places, "INSTALLED", True)
    monkeypatch.setattr(places, "COMMAND", "boxspec")
    assert places.command_from(tmp_path) == "boxspec"


def test_an_unknown_language_is_refused_with_the_list(tmp_path: Path) -> None:
    done = boxspec("new-shim", "cobol", "mine", cwd=tmp_path)
    assert done.returncode == 2
    assert "cobol" in done.stderr and "python" in done.stderr
    assert not (tmp_path / "mine").exists()
