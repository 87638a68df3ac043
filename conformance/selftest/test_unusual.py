"""Right implementations that are built in an unusual way conform in what they do."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selftest.tools import ROOT, boxspec

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
