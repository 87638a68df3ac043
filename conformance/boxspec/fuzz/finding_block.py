"""Print a finding: the oracle, its meaning, the case, and the command that reproduces it."""

from __future__ import annotations

import re

from boxspec.fuzz import about
from boxspec.fuzz.findings import Finding
from boxspec.judge.requirements import load
from boxspec.plural import many

SHOWN_BYTES = 32
# How many lines of a shim's stderr are shown: of a sanitizer report the lines up to the place of
# the error, otherwise the last lines.
SHOWN_LINES = 14
# How many characters of a line are shown. An input may consist of a hundred thousand brackets.
SHOWN_CHARS = 4000
BEGINNING = re.compile(r"Sanitizer: |runtime error: |^panic: |^Traceback |panicked at ")


def _input(finding: Finding) -> str:
    data = finding.data
    text = data[:SHOWN_BYTES].hex(" ") + (" …" if len(data) > SHOWN_BYTES else "")
    made = (
        f", minimised from {finding.original_bytes}" if len(data) < finding.original_bytes else ""
    )
    return f"{len(data)} bytes{made}: {text}" if data else f"empty{made}"


def _shown(lines: list[str]) -> list[str]:
    begins = next((n for n, line in enumerate(lines) if BEGINNING.search(line)), None)
    if begins is None:
        return lines[-SHOWN_LINES:]
    return lines[begins : begins + SHOWN_LINES]


def _cut(line: str) -> str:
    if len(line) <= SHOWN_CHARS:
        return line
    half = SHOWN_CHARS // 2
    return f"{line[:half]} … {len(line) - 2 * half} characters … {line[-half:]}"


def finding_block(finding: Finding, command: str) -> list[str]:
    """Return the lines of a finding, in the same order as the block of a failed requirement."""
    report = finding.report
    says = finding.target.oracles.get(report.oracle) if report.oracle is not None else None
    both, broken = about.answers(finding), about.requirement(finding)
    title = _cut(report.message) if both is None else "two different answers"
    lines = [f"{finding.target.name}: {report.key}: {title}"]
    lines.append(f"  means     {says or 'the target crashed or hung'}")
    if broken is not None:
        lines.append(f"  breaks    {broken}: {load()[broken].clause}")
    lines.append("  case" if report.case else "  case      not available")
    lines += [f"    {_cut(line)}" for line in report.case]
    if both is not None:
        lines += [f"  expected  {_cut(both[0])}", f"  actual    {_cut(both[1])}"]
    if report.shim_stderr:
        lines.append("  stderr    of the shim")
        lines += [f"    {line}" for line in _shown(report.shim_stderr)]
    lines.append(f"  input     {_input(finding)}")
    seen = "" if finding.reproduces else ", but not in the replay"
    lines.append(f"  seen      {many(finding.times, 'time')}{seen}")
    lines.append(f"  repro     {command}")
    if report.marks:
        lines.append(f"  aside     --ignore '{report.key}{report.marks}'")
    lines.append(f"  kept      {finding.path}")
    return lines
