"""The block of a finding: what fired, what that means, the case, how to see it again."""

from __future__ import annotations

from boxspec.fuzz.findings import Finding

SHOWN_BYTES = 32


def _input(finding: Finding) -> str:
    data = finding.data
    text = data[:SHOWN_BYTES].hex(" ") + (" …" if len(data) > SHOWN_BYTES else "")
    made = f", made of {finding.original_bytes}" if len(data) < finding.original_bytes else ""
    return f"{len(data)} bytes{made}: {text}" if data else f"empty{made}"


def finding_block(finding: Finding, command: str) -> list[str]:
    """In a fixed order, like the block of a failed requirement."""
    told = finding.report
    says = finding.target.oracles.get(told.oracle) if told.oracle is not None else None
    lines = [f"{finding.target.name}: {told.key}: {told.message}"]
    lines.append(f"  means     {says or 'the target did not come to its end'}")
    lines.append("  case      " + ("" if told.case else "none was shown"))
    lines += [f"    {line}" for line in told.case]
    lines.append(f"  input     {_input(finding)}")
    seen = "" if finding.reproduces else ", and not again when it was replayed"
    lines.append(f"  seen      {finding.times} time{'s' if finding.times > 1 else ''}{seen}")
    lines.append(f"  repro     {command}")
    lines.append(f"  kept      {finding.path}")
    return lines
