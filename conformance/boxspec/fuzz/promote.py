"""`--promote`: a finding becomes vectors, which pytest runs, and an input that ctest replays."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from boxspec.errors import UsageError
from boxspec.fuzz import replay
from boxspec.fuzz.findings import Finding
from boxspec.judge.requirements import contract_of, load
from boxspec.target.contract import find, owner

# Ids of found vectors have a block of their own, so that topics written by hand can grow.
FIRST_NUMBER = 9001
# A case may ask about many paths; so many of one finding are kept.
MOST = 4

# What is written to, below a root, and what to do where that fails.
VECTORS, INPUTS = Path("fixtures", "vectors"), Path("fuzz", "regressions")
ELSEWHERE = "name a folder where you may write"


def check(into: Path, about: str | None) -> None:
    """Whether there is anything against it, before anything is looked for."""
    if about is not None and about not in load():
        raise UsageError(f"--requirement {about}", "no such requirement", "boxspec list names them")
    try:
        for below in (VECTORS, INPUTS):
            (into / below).mkdir(parents=True, exist_ok=True)
    except OSError as why:
        problem = f"cannot be made: {why.strerror}"
        raise UsageError(f"--into {into}", problem, ELSEWHERE) from None
    if not all(os.access(into / below, os.W_OK) for below in (VECTORS, INPUTS)):
        raise UsageError(f"--into {into}", "cannot be written", ELSEWHERE)


def promote(
    finding: Finding, decoder: Path, into: Path, why: str | None, about: str | None
) -> list[str]:
    """Writes below `into` and says what, a line each."""
    try:
        return _promote(finding, decoder, into, why, about)
    except OSError as broke:
        problem = f"cannot be written: {broke.strerror}"
        raise UsageError(f"--into {into}", problem, ELSEWHERE) from None


def _promote(
    finding: Finding, decoder: Path, into: Path, why: str | None, about: str | None
) -> list[str]:
    told = []
    made = [vector for case in replay.cases(decoder, finding.path) for vector in vectors_of(case)]
    for fields in made[:MOST]:
        if about is not None:
            fields["requirement"] = about
        told.append(_write(_file(into, fields), fields, why or _reason(finding)))
    if not made:
        told.append("no vector: this operation has none; the input alone is kept")
    kept = into / INPUTS / finding.target.name / finding.path.name
    kept.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(finding.path, kept)
    return [*told, f"input {kept}"]


def vectors_of(case: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The vectors that a case stands for; none where its operation has none."""
    contract = owner(str(case["op"]))
    if contract is not None and contract.fuzzing:
        yield from contract.load_fuzzing().vectors_of(case)


def _reason(finding: Finding) -> str:
    # A sentence, as the schema wants it; whoever commits it says whose mistake it is.
    said = re.sub(r"\s+", " ", finding.report.message).strip().rstrip(".")
    return f"Found by fuzzing {finding.target.name}, {finding.report.key}: {said}."


def _file(into: Path, fields: dict[str, Any]) -> Path:
    topic = load()[fields["requirement"]].topic
    return into / VECTORS / f"found-{_short(topic).lower()}.json"


def _write(path: Path, fields: dict[str, Any], why: str) -> str:
    topic = load()[fields["requirement"]].topic
    entries = json.loads(path.read_text())["vectors"] if path.exists() else []
    for known in entries:
        if all(known.get(name) == value for name, value in fields.items()):
            return f"vector {known['id']} is this one already, in {path}"
    name = _next_id(topic, entries)
    head = {"id": name, "requirement": fields["requirement"], "kind": fields["kind"], "why": why}
    entries.append({**head, **fields})
    path.parent.mkdir(parents=True, exist_ok=True)
    # On a full disk the vectors that are there stay.
    made = path.with_suffix(".new")
    try:
        made.write_text(_text(topic, entries), encoding="utf-8")
        made.replace(path)
    finally:
        made.unlink(missing_ok=True)
    return f"vector {name}, {fields['requirement']}, in {path}"


def _short(topic: str) -> str:
    """GLOB for POLICY-GLOB."""
    return topic.partition("-")[2]


def _next_id(topic: str, entries: list[dict[str, Any]]) -> str:
    prefix = _short(topic)
    ids = [*find(contract_of(topic)).load_fuzzing().ids(), *(entry["id"] for entry in entries)]
    numbers = [int(each.rpartition("-")[2]) for each in ids if each.startswith(f"{prefix}-")]
    return f"{prefix}-{max([FIRST_NUMBER - 1, *numbers]) + 1:04}"


def _text(topic: str, entries: list[dict[str, Any]]) -> str:
    """As the files that are written by hand: what it is, why, and the question a line each."""

    def line(entry: dict[str, Any], names: Iterator[str]) -> str:
        return json.dumps({name: entry[name] for name in names}, ensure_ascii=False)[1:-1]

    told = []
    for entry in entries:
        head = line(entry, iter(("id", "requirement", "kind")))
        why = line(entry, iter(("why",)))
        rest = line(entry, (n for n in entry if n not in ("id", "requirement", "kind", "why")))
        told.append(f"    {{\n      {head},\n      {why},\n      {rest}\n    }}")
    listed = ",\n".join(told)
    return f'{{\n  "topic": "{topic}",\n  "vectors": [\n{listed}\n  ]\n}}\n'
