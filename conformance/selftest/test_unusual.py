"""Right implementations that are built in an unusual way conform in what they do."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selftest.tools import FAKE, ROOT, boxspec

HERE = ROOT / "conformance" / "shims" / "unusual"
PYTHON = f"{sys.executable} -I -S"


@dataclass
class Judged:
    """What a run said of a shim, by requirement."""

    code: int
    verdicts: dict[str, str]
    said: str

    def all_of(self, *verdicts: str) -> list[str]:
        return sorted(name for name, verdict in self.verdicts.items() if verdict in verdicts)

    @property
    def failing(self) -> list[str]:
        passing = ("conforms", "not-applicable", "not-measured")
        return sorted(name for name, each in self.verdicts.items() if each not in passing)


def judged(shim: str, folder: Path, *words: str) -> Judged:
    file = folder / "result.json"
    done = boxspec("run", "--shim", shim, "--json", file, *words)
    assert file.exists(), done.stdout + done.stderr
    tree: dict[str, Any] = json.loads(file.read_text())
    verdicts = {each["id"]: each["verdict"] for each in tree["requirements"]}
    return Judged(done.returncode, verdicts, done.stdout + done.stderr)


def test_a_text_with_an_unknown_form_conforms_elsewhere(tmp_path: Path) -> None:
    shim = f"{PYTHON} {HERE / 'unknown_form.py'}"
    topics = "test_form or test_modify or test_filter or test_scratch or test_read"
    found = judged(shim, tmp_path, "--contract", "sbpl", "--profile", "all", "-k", topics)
    assert found.failing == ["SBPL-FORM-04"], found.said
    assert found.all_of("not-measured") == [], found.said
    assert re.search(r"\(\?:hosts\|passwd\).*not known", found.said), found.said


def test_an_api_of_strings_conforms_but_for_bytes(tmp_path: Path) -> None:
    shim = f"{PYTHON} {HERE / 'strings_only.py'}"
    topics = "test_request or test_env or test_stdin"
    found = judged(shim, tmp_path, "--contract", "exec", "--profile", "contract", "-k", topics)
    assert found.code == 0, found.said
    bytes_ = ["EXEC-ENV-04", "EXEC-REQUEST-07", "EXEC-STDIN-14"]
    assert found.all_of("not-applicable") == bytes_, found.said
    assert "not applicable, without exec.bytes: " in found.said


def test_an_engine_of_globs_is_judged_by_them_alone(tmp_path: Path) -> None:
    found = judged(f"{PYTHON} {HERE / 'globs_only.py'}", tmp_path)
    assert (found.code, found.failing) == (0, []), found.said
    decided = {name.rsplit("-", 1)[0] for name in found.all_of("conforms")}
    assert decided == {"POLICY-PATH", "POLICY-GLOB", "POLICY-COST"}
    assert "declares no contract" not in found.said


def test_wrong_answers_that_cost_nothing_are_told_by_the_globs(tmp_path: Path) -> None:
    found = judged(f"{FAKE} only-globs", tmp_path, "-k", "test_cost or test_glob")
    assert found.verdicts["POLICY-COST-01"] == "conforms", found.said
    assert "POLICY-GLOB-11" in found.failing, found.said


def test_a_parser_of_yaml_is_judged_by_what_it_reads(tmp_path: Path) -> None:
    shim = f"{PYTHON} {HERE / 'parser_only.py'}"
    found = judged(shim, tmp_path, "-k", "test_file or test_valid or test_warn or test_merge")
    assert (found.code, found.failing) == (0, []), found.said
    decided = {name.rsplit("-", 1)[0] for name in found.all_of("conforms")}
    assert decided == {"POLICY-FILE", "POLICY-VALID", "POLICY-WARN", "POLICY-MERGE"}
    whole = {name for name in found.verdicts if name.startswith("POLICY-VALID")}
    assert whole <= {*found.all_of("conforms")}, found.said
