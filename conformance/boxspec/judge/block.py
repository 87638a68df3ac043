"""The failure block: id and clause, request, expected, got, evidence, repro, kept folder."""

from __future__ import annotations

from typing import Any

from boxspec.judge.record import Record
from boxspec.judge.repro import repro_command
from boxspec.judge.requirements import load
from boxspec.judge.verdict import Verdict


def _fact(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "".join(f"\n      {item}" for item in value) or " none"
    return f" {value}"


def failure_block(record: Record, shim: str | None, requirement: str | None = None) -> str:
    """The block in its fixed order; `requirement` puts one of several ids first."""
    names = [requirement] if requirement else record.requirements
    known = load()
    lines = []
    for name in names:
        entry = known.get(name)
        kind = f" ({entry.level}, {entry.profile})" if entry else ""
        verdict = "" if record.verdict is Verdict.FAILS else f" [{record.verdict}]"
        lines.append(f"{name}{kind}{verdict}: {entry.clause if entry else '?'}")
    lines.append(f"  test      {record.id}")
    lines.append(f"  request   {record.request or 'none: nothing was asked yet'}")
    lines.append(f"  judged    {record.what}")
    lines.append(f"  expected  {record.expected}")
    lines.append(f"  got       {record.got}")
    lines.append("  evidence" + ("" if record.evidence else "  none beyond the response"))
    lines += [f"    {name}:{_fact(fact)}" for name, fact in record.evidence.items()]
    lines.append(f"  repro     {repro_command(record, shim)}")
    lines.append(f"  kept      {record.folder or 'nothing'}")
    return "\n".join(lines)
