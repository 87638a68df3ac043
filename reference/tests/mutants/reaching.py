"""Find the lines that the suite of a contract executes in the reference, by counters in a build."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterable
from pathlib import Path

from making import ROOT

BUILD = ROOT / "build" / "coverage"
SHIM = BUILD / "reference" / "boxspec-ref"


def forget() -> None:
    """Delete the counters of earlier runs, because new counts are added to them."""
    for counts in BUILD.rglob("*.gcda"):
        counts.unlink()


def executed(files: Iterable[str]) -> dict[str, set[int]]:
    """Return the lines of each file that were executed since `forget`."""
    objects = {
        entry["file"]: BUILD / _output(entry["command"])
        for entry in json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))
        if "/boxspec.dir/" in entry["command"]
    }
    return {file: _lines(objects[str(ROOT / file)]) for file in files}


def _output(command: str) -> str:
    words = shlex.split(command)
    return words[words.index("-o") + 1]


def _lines(made: Path) -> set[int]:
    counts = made.with_suffix(".gcda")
    if not counts.exists():
        return set()
    said = subprocess.run(
        ["gcov", "--json-format", "--stdout", str(counts)],
        cwd=BUILD,
        capture_output=True,
        check=True,
    )
    source = made.with_suffix("").name
    return {
        line["line_number"]
        for file in json.loads(said.stdout)["files"]
        if Path(file["file"]).name == source
        for line in file["lines"]
        if line["count"] > 0
    }
