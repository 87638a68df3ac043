"""Find the requirement that a finding breaks, and the two answers that differ."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from boxspec.errors import HarnessError
from boxspec.fuzz import builds, replay
from boxspec.fuzz.findings import Finding
from boxspec.subject.contract import owner

_ANSWERS = re.compile(r"request \d+(?: \S+)?: (.*), and the reference: (.*)", re.S)


def answers(finding: Finding) -> tuple[str, str] | None:
    """Return the answers of the reference and of the shim, or None if the finding has no
    answers."""
    found = _ANSWERS.fullmatch(finding.report.message)
    if found is None:
        return None
    actual, expected = (_essential(text) for text in found.groups())
    return expected, actual


def requirement(finding: Finding) -> str | None:
    """Return the requirement that the shim's answer breaks, or None if it is unknown.

    The requirement is found by vectors, and some operations have no vectors. A program of the
    release build decodes the input.
    """
    decoder = builds.binary(builds.DECODER, finding.target)
    found = _ANSWERS.fullmatch(finding.report.message)
    if found is None or not decoder.is_file():
        return None
    try:
        accused = json.loads(found[1])
        # An input may have several requests. The first line of the case names the operation with
        # different answers.
        op = finding.report.case[0].split()[-1] if finding.report.case else None
        cases = [each for each in replay.cases(decoder, finding.path) if op in (None, each["op"])]
    except (ValueError, HarnessError):
        return None
    broken = (fields for case in cases for fields in vectors_of(case, accused))
    first: dict[str, Any] | None = next(broken, None)
    return None if first is None else str(first["requirement"])


def vectors_of(
    case: Mapping[str, Any], accused: Mapping[str, Any] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the vectors for this case that the answer fails. Some operations have no vectors."""
    contract = owner(str(case["op"]))
    if contract is not None and contract.fuzzing:
        yield from contract.load_fuzzing().vectors_of(case, accused)


def _essential(text: str) -> str:
    """Return the answer without the id of the request. Equal answers give equal texts."""
    try:
        answer = json.loads(text)
    except ValueError:
        return text
    if isinstance(answer, dict):
        answer.pop("id", None)
    return json.dumps(answer, ensure_ascii=False)
