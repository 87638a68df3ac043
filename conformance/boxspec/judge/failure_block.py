"""Write the failure block: the lines about a failed test on the console and in reports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from boxspec.judge.record import Record
from boxspec.judge.repro import RunFlags, repro_command
from boxspec.judge.requirements import load
from boxspec.judge.verdict import Verdict
from boxspec.printable import one_line

# A longer line is shortened on the console.
MOST_SHOWN = 4000
# The beginning of the line with the command that repeats the test.
REPEAT = "  repro     "


def failure_block(record: Record, how: RunFlags) -> str:
    """Return the block of a record as one text."""
    return "\n".join(block_lines(record, how))


def block_lines(
    record: Record, how: RunFlags, requirement: str | None = None, tests: str = ""
) -> list[str]:
    """Return the lines of a block, with control characters escaped.

    requirement: the only requirement to name, if the test decides several.
    tests: a text that says how many tests of that requirement fail.
    """
    lines = [
        heading(name, record.verdict)
        for name in ([requirement] if requirement else record.requirements)
    ]
    lines.append(f"  test      {record.id}{f' ({tests})' if tests else ''}")
    lines.append(f"  request   {record.request or 'none was sent'}")
    lines.append(f"  checked   {record.what}")
    lines.append(f"  expected  {record.expected}")
    lines.append(f"  actual    {record.got}")
    lines.append("  evidence" + ("" if record.evidence else "  only the response"))
    for name, fact in record.evidence.items():
        lines += _fact(name, fact)
    lines.append(f"{REPEAT}{repro_command(record.to_repeat, how)}")
    lines.append(f"  kept      {record.folder or 'nothing'}")
    return [one_line(line) for line in lines]


def shortened(line: str) -> str:
    """Return a line for the console. The middle of a very long line is left out.

    The JSON file and the kept folder contain the whole line.
    """
    if len(line) <= MOST_SHOWN:
        return line
    half = MOST_SHOWN // 2
    return f"{line[:half]} … {len(line) - 2 * half:,} characters, see --json … {line[-half:]}"


def heading(name: str, verdict: Verdict) -> str:
    """Return a heading such as `EXEC-ORPHAN-03 (MUST, contract): ` followed by the clause."""
    entry = load().get(name)
    kind = f" ({entry.level}, {entry.profile})" if entry else ""
    verdict_suffix = "" if verdict is Verdict.FAILS else f" [{verdict}]"
    return f"{name}{kind}{verdict_suffix}: {entry.clause if entry else '?'}"


def _fact(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, str) and "\n" in value.rstrip("\n"):
        value = value.rstrip("\n").split("\n")
    if not isinstance(value, list | tuple):
        yield f"    {name}: {value}"
        return
    yield f"    {name}:" + ("" if value else " none")
    for item in value:
        yield f"      {item}"
