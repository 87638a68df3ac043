"""Make the short form of a failure for the console.

The whole block, with the evidence, is in judge/failure_block.py: for -v, `repro` and reports.
"""

from __future__ import annotations

from boxspec.judge.difference import DIFFERENCE
from boxspec.judge.repro import repro_command
from boxspec.judge.results import ResultTree
from boxspec.judge.verdict import Verdict
from boxspec.plural import many
from boxspec.report.console import Console
from boxspec.report.failures import Failures, is_partial, share
from boxspec.report.ran import ran, readable
from boxspec.subject.transcript import SHORTENED

INDENT = " " * 5
LABEL = 10
# The most lines of one row. Output files, and the console with -v, contain the whole text.
MOST = 3
# The first word of a failure, by verdict. All other failures begin with FAIL.
HEADS = {
    Verdict.CONTRADICTION: "ESCAPED",
    Verdict.ESCAPED: "ESCAPED",
    Verdict.OVERREFUSED: "REFUSED",
    Verdict.WRONG_REASON: "WRONG REASON",
    Verdict.UNPROVEN: "UNPROVEN",
    Verdict.HARNESS_ERROR: "KIT ERROR",
}
# The evidence under this name says why a vector asks its question.
WHY = "why asked"


def block_lines(console: Console, tree: ResultTree, group: Failures) -> list[str]:
    """Return the request, the expected and the actual answer, and the command that repeats the
    test."""
    first, record = group.first, group.record
    head = f"{HEADS.get(record.verdict, 'FAIL')} {first.id} {first.requirement.kind}"
    block = console.wrapped(first.requirement.clause, f"{head}  ", most=1)
    partly = f" ({share(first)})" if is_partial(first) else ""
    did = f"the order {record.order} (-v: its events)" if record.order else ran(record.request)
    rows = [("ran", did), ("checked", f"{record.what}{partly}")]
    difference = record.evidence.get(DIFFERENCE)
    if difference:
        rows += [("differs", line) for line in difference]
    else:
        rows += [("expected", record.expected), ("actual", record.got)]
    if WHY in record.evidence:
        rows.append(("because", str(record.evidence[WHY])))
    if group.blocked:
        others = f"{many(len(group.blocked), 'other')}: {' '.join(group.blocked)}"
        rows.append(("blocks", others))
    last, is_cut = "", False
    for label, text in rows:
        shown = "" if label == last else label
        last = label
        start = f"{INDENT}{shown:<{LABEL}}"
        text, indent = readable(text), " " * len(start)
        lines = console.wrapped(text, start, indent, MOST)
        is_cut = is_cut or SHORTENED in text or "".join(lines).count("…") > text.count("…")
        block += lines
    how = tree.how_to_repeat(first.requirement.contract)
    if is_cut:
        block.append(f"{INDENT}{'shortened':<{LABEL}}the next command shows the whole text")
    # The command has no line breaks, so that it can be copied.
    return [*block, f"{INDENT}{'repeat':<{LABEL}}{repro_command(group.to_repeat, how)}"]
