"""Turn a finding into vectors for pytest and an input for ctest (`--promote`)."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from boxspec.errors import UsageError
from boxspec.fuzz import replay
from boxspec.fuzz.about import vectors_of
from boxspec.fuzz.findings import Finding
from boxspec.judge.requirements import contract_of, load
from boxspec.subject.contract import find

# The first number in the ids of vectors from findings. Vectors that people write have lower
# numbers.
FIRST_NUMBER = 9001
# The largest number of vectors from one finding. A case may contain many paths.
MOST = 4
# Limits for the implementation that the finding accuses: the time for an answer, and the answer's
# length.
ANSWER_S, MOST_ANSWER = 20.0, 1 << 24

# Output folders below a root, and the remedy if they cannot be written.
VECTORS, INPUTS = Path("fixtures", "vectors"), Path("fuzz", "regressions")
ELSEWHERE = "use a folder that you can write to"


def check(into: Path, about: str | None) -> None:
    """Before the run starts, check that the requirement exists and that the folders can be
    written."""
    if about is not None and about not in load():
        place = f"--requirement {about}"
        raise UsageError.unknown(place, "requirement", about, load(), "boxspec list")
    try:
        for below in (VECTORS, INPUTS):
            (into / below).mkdir(parents=True, exist_ok=True)
    except OSError as why:
        problem = f"cannot be created: {why.strerror}"
        raise UsageError(f"--into {into}", problem, ELSEWHERE) from None
    if not all(os.access(into / below, os.W_OK) for below in (VECTORS, INPUTS)):
        raise UsageError(f"--into {into}", "cannot be written", ELSEWHERE)


def promote(
    finding: Finding,
    decoder: Path,
    into: Path,
    why: str | None,
    about: str | None,
    accused: Sequence[str],
) -> list[str]:
    """Write the vectors and the input below `into`; return a line for each.

    accused: the command of the shim that the finding is about. Only vectors that this shim fails
        are written.
    """
    lines: list[str] = []
    try:
        cases = replay.cases(decoder, finding.path)
        made = [vector for case in cases for vector in vectors_of(case, _answer(accused, case))]
        for fields in made[:MOST]:
            if about is not None:
                fields["requirement"] = about
            lines.append(_write(_file(into, fields), fields, why or _reason(finding)))
        if not made:
            lines.append("no vector: this operation has none; only the input is kept")
        kept = into / INPUTS / finding.target.name / finding.path.name
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(finding.path, kept)
    except OSError as broke:
        problem = f"cannot be written: {broke.strerror}"
        raise UsageError(f"--into {into}", problem, ELSEWHERE) from None
    return [*lines, f"input {kept}"]


def _answer(accused: Sequence[str], case: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the answer of a shim to a case.

    None means that the shim gave no answer, which may be the mistake that the case shows.
    """
    message = json.dumps({"id": "1", "op": case["op"], **case["request"]}) + "\n"
    with tempfile.TemporaryFile() as request, tempfile.TemporaryFile() as output:
        request.write(message.encode())
        request.seek(0)
        try:
            process = subprocess.Popen(
                [*accused, "serve"],
                stdin=request,
                stdout=output,
                stderr=subprocess.DEVNULL,
                process_group=0,
            )
        except OSError:
            return None
        try:
            process.wait(ANSWER_S)
        except subprocess.TimeoutExpired:
            pass
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        output.seek(0)
        line = output.readline(MOST_ANSWER)
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) and answer.get("id") == "1" else None


def _reason(finding: Finding) -> str:
    # The schema requires a sentence, so the message of the finding is the sentence. The person who
    # commits the vector may improve it.
    output = re.sub(r"\s+", " ", finding.report.message).strip().rstrip(".")
    return f"Found by fuzzing {finding.target.name}, {finding.report.key}: {output}."


def _file(into: Path, fields: dict[str, Any]) -> Path:
    topic = load()[fields["requirement"]].topic
    return into / VECTORS / f"found-{_short(topic).lower()}.json"


def _write(path: Path, fields: dict[str, Any], why: str) -> str:
    topic = load()[fields["requirement"]].topic
    entries = json.loads(path.read_text())["vectors"] if path.exists() else []
    for known in entries:
        if all(known.get(name) == value for name, value in fields.items()):
            return f"vector {known['id']} is equal to this one, in {path}"
    name = _next_id(topic, entries)
    head = {"id": name, "requirement": fields["requirement"], "kind": fields["kind"], "why": why}
    entries.append({**head, **fields})
    path.parent.mkdir(parents=True, exist_ok=True)
    # Write a new file first: a full disk then does not damage the existing vectors.
    made = path.with_suffix(".new")
    try:
        made.write_text(_text(topic, entries), encoding="utf-8")
        made.replace(path)
    finally:
        made.unlink(missing_ok=True)
    return f"vector {name}, {fields['requirement']}, in {path}"


def _short(topic: str) -> str:
    """Return the last part of a topic: GLOB for POLICY-GLOB."""
    return topic.partition("-")[2]


def _next_id(topic: str, entries: list[dict[str, Any]]) -> str:
    prefix = _short(topic)
    ids = [*find(contract_of(topic)).load_fuzzing().ids(), *(entry["id"] for entry in entries)]
    numbers = [int(each.rpartition("-")[2]) for each in ids if each.startswith(f"{prefix}-")]
    return f"{prefix}-{max([FIRST_NUMBER - 1, *numbers]) + 1:04}"


def _text(topic: str, entries: list[dict[str, Any]]) -> str:
    """Return the JSON in the layout of hand-written files.

    In this layout the head, the reason and the question each have one line.
    """

    def line(entry: dict[str, Any], names: Iterator[str]) -> str:
        return json.dumps({name: entry[name] for name in names}, ensure_ascii=False)[1:-1]

    lines = []
    for entry in entries:
        head = line(entry, iter(("id", "requirement", "kind")))
        why = line(entry, iter(("why",)))
        rest = line(entry, (n for n in entry if n not in ("id", "requirement", "kind", "why")))
        lines.append(f"    {{\n      {head},\n      {why},\n      {rest}\n    }}")
    listed = ",\n".join(lines)
    return f'{{\n  "topic": "{topic}",\n  "vectors": [\n{listed}\n  ]\n}}\n'
