"""Write results as Markdown, for the summary of a CI step: tables first, then failure blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from boxspec.printable import one_line
from boxspec.report.result import Plain, Result, block_of

# GitHub rejects a step summary of more than 1 MiB. Other systems have lower limits.
MAX_BYTES = 500_000
_ACTS = re.compile(r"([\\`*_{}\[\]<>()#+!|~@$&])")


def text(value: object) -> str:
    """Escape a text for Markdown and HTML."""
    return _ACTS.sub(lambda found: f"&#{ord(found[1])};", one_line(value))


def fenced(lines: Sequence[str]) -> str:
    """Return a code block whose fence is longer than any fence in its content."""
    inside = "\n".join(one_line(line) for line in lines)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", inside)), default=0))
    return f"{fence}text\n{inside}\n{fence}"


def row(*cells: object) -> str:
    return f"| {' | '.join(text(cell) for cell in cells)} |"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    return [row(*head), f"|{'---|' * len(head)}", *(row(*each) for each in rows)]


def render(result: Result) -> str:
    return render_all([result])


def render_all(results: Sequence[Result]) -> str:
    """Return several results as one text, with a table of all of them at the top."""
    parts: list[str] = []
    if len(results) > 1:
        head = ("implementation", "contract MUST", "hardened MUST", "outcome")
        parts += ["## boxspec", "", *table(head, [_line(each) for each in results]), ""]
    room = MAX_BYTES // max(1, len(results))
    for result in results:
        parts += _implementation(result, room)
    return "\n".join(parts) + "\n"


def _line(result: Result) -> tuple[str, str, str, str]:
    contract, hardened = (part.split(" ", 1)[1] for part in result.fractions())
    return result.name, contract, hardened, result.words


def _implementation(result: Result, room: int) -> list[str]:
    mark = {0: "✅", 4: "⚠️", 3: "⚠️"}.get(result.status, "❌")
    parts = [f"## {mark} {text(result.name)}: {text(result.words)}", ""]
    parts += [text(result.denominators()), "", *_by_contract(result), ""]
    facts = [(name, value) for name, value in result.facts().items()]
    parts += ["<details><summary>Configuration</summary>", "", *table(("", ""), facts)]
    parts += ["", "</details>", ""]
    broken = [each for each in result.plain["requirements"] if each["failing"]]
    if broken:
        parts += [f"### Failed: {len(broken)}", ""]
    left = 0
    used = sum(len(part.encode()) for part in parts)
    for each in broken:
        made = _failure(result, each)
        used += len(made.encode())
        if used > room:
            left += 1
        else:
            parts += [made, ""]
    if left:
        parts += [f"{left} more are in the result file.", ""]
    return parts


def _by_contract(result: Result) -> list[str]:
    head = ("contract", "MUST", "SHOULD", "MAY", "hardened MUST", "not measured", "not applicable")
    rows = []
    for name, counts in result.plain["summary"]["contracts"].items():
        levels = [counts["contract"][level] for level in ("must", "should", "may")]
        shown = [f"{of['conforms']}/{of['of']}" for of in (*levels, counts["hardened"]["must"])]
        undecided = [result.verdicts(word, name) for word in ("not-measured", "not-applicable")]
        rows.append((name, *shown, *undecided))
    return table(head, rows)


def _failure(result: Result, requirement: Plain) -> str:
    known = " (known)" if requirement["known"] else ""
    head = (
        f"<b>{text(requirement['id'])}</b> {requirement['level']} {requirement['verdict']}{known}"
    )
    test = result.tests.get(requirement["failing"][0])
    lines = block_of(result, test) if test else [requirement["reason"]]
    return (
        f"<details><summary>{head}: {text(requirement['clause'])}</summary>\n\n"
        f"{fenced(lines)}\n\n</details>"
    )
