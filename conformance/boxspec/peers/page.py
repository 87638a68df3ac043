"""The matrix for people: peers by topic, what each fails, and what was read of that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from boxspec.judge.verdict import BROKEN, Verdict
from boxspec.peers.judging import Judged
from boxspec.places import COMMAND
from boxspec.printable import one_line
from boxspec.report.html import SIGNS
from boxspec.report.markdown import table, text
from boxspec.report.matrix import Matrix, Run
from boxspec.report.result import Plain, Result

LEVELS = ("MUST", "SHOULD", "MAY")
TRIED = "°"
INTRODUCTION = (
    "Each library is asked through a shim that was written from its own documentation. A library",
    "may do otherwise than a contract asks and keep all that it promises itself: what was read of",
    "each failure stands below. A reason is drawn from what a test asked, expected and got. Where",
    f"a requirement has a {TRIED}, the same was seen without the kit, by a few lines that use the",
    f"library alone: `{COMMAND} peers try NAME` shows it again.",
)
NOT_READ = "not read yet"


def render(command: str, peers: Sequence[Judged]) -> str:
    return "\n".join(_lines(command, peers)).rstrip() + "\n"


def unread(peers: Sequence[Judged]) -> list[tuple[Judged, str]]:
    """What fails, and nobody has said why."""
    return [
        (each, name)
        for each in peers
        if each.result
        for name in each.result.requirements
        if is_broken(each.result, name) and not each.peer.why(name)
    ]


def is_broken(result: Result, name: str) -> bool:
    """It fails by itself: what is blocked is told by what blocks it."""
    each = result.requirements.get(name)
    return each is not None and Verdict(each["verdict"]) in BROKEN


def _lines(command: str, peers: Sequence[Judged]) -> Iterator[str]:
    yield "# Peers: what libraries do of the contracts"
    yield ""
    yield from INTRODUCTION
    yield ""
    yield "This page is made by one command; the sentences are those of each `peer.yaml`:"
    yield ""
    yield f"    {command}"
    yield ""
    yield from _table_of_peers(peers)
    asked = [each for each in peers if each.result]
    runs = [
        Run("peers", each.peer.word, each.peer.name, each.result) for each in asked if each.result
    ]
    matrix = Matrix("peers", runs)
    for contract in matrix.contracts():
        mine = [run for run in runs if contract in run.result.plain["summary"]["contracts"]]
        yield from _topics(contract, Matrix("peers", mine))
        yield from _requirements(contract, Matrix("peers", mine))
    for each in asked:
        yield from _read(each)


def _table_of_peers(peers: Sequence[Judged]) -> Iterator[str]:
    yield from _facts(peers)
    rows = []
    for each in peers:
        parts = [part.split(" ", 1)[1] for part in each.result.fractions()] if each.result else []
        rows.append(
            (
                each.peer.word,
                each.peer.name,
                each.version,
                each.peer.language,
                *(parts or ("", "")),
                _judged(each.result) if each.result else "",
                each.why,
            )
        )
    heads = ("peer", "name", "version", "language", "contract", "hardened", "judged", "remark")
    yield from table(heads, rows)
    yield ""
    for each in peers:
        yield f"* {text(each.peer.word)}: {text(each.peer.about)}; <{each.peer.documents}>"
    yield ""


def _facts(peers: Sequence[Judged]) -> Iterator[str]:
    """Each machine once, with the versions of the kit that judged there."""
    found: dict[str, None] = {}
    for result in (each.result for each in peers if each.result):
        facts, kit = result.facts(), result.plain["kit"]
        machine = f"{facts['host']}, {facts['user']}, Python {facts['python']}"
        found[f"{machine}; boxspec {kit['version']}"] = None
    for each in found:
        yield text(each)
        yield ""


def _judged(result: Result) -> str:
    """The day, and the commit of the kit: peers need not have been judged by the same one."""
    return f"{result.started[:10]}, {(result.plain['kit']['commit'] or 'unknown')[:10]}"


def _topics(contract: str, matrix: Matrix) -> Iterator[str]:
    yield f"## {contract} by topic"
    yield ""
    yield "How many of the requirements that were asked conform, by level, both profiles together."
    yield ""
    rows = [
        (topic, *(_counts(run.result, rows) for run in matrix.runs))
        for mine, topic, rows in matrix.topics()
        if mine == contract
    ]
    yield from table(("topic", *(run.label for run in matrix.runs)), rows)
    yield ""


def _counts(result: Result, rows: Sequence[Plain]) -> str:
    told = []
    for level in LEVELS:
        mine = [result.requirements.get(each["id"]) for each in rows if each["level"] == level]
        of = [each for each in mine if each and each["verdict"] != Verdict.NOT_APPLICABLE]
        if of:
            good = sum(each["verdict"] == Verdict.CONFORMS for each in of)
            told.append(f"{level} {good}/{len(of)}")
    return ", ".join(told)


def _requirements(contract: str, matrix: Matrix) -> Iterator[str]:
    yield f"## {contract}: what fails"
    yield ""
    shown = ("fails", "escaped", "contradiction", "overrefused", "wrong-reason", "unproven")
    more = ("harness-error", "not-measured", "not-applicable")
    yield " ".join(f"{SIGNS[name]} {name}" for name in ("conforms", *shown, *more))
    yield ""
    rows = []
    for mine, _, requirements in matrix.topics():
        for each in requirements if mine == contract else ():
            if any(is_broken(run.result, each["id"]) for run in matrix.runs):
                signs = (SIGNS[run.verdict(each["id"])] for run in matrix.runs)
                rows.append((each["id"], f"{each['level']} {each['profile']}", *signs))
    yield from table(("requirement", "", *(run.label for run in matrix.runs)), rows)
    yield ""


def _read(each: Judged) -> Iterator[str]:
    """One line for what has one reason; one command asks again for what stands in it."""
    assert each.result is not None
    failing = [name for name in each.result.requirements if is_broken(each.result, name)]
    named = "" if each.peer.name == each.peer.word else f": {text(each.peer.name)}"
    yield f"## {each.peer.word}{named}"
    yield ""
    if not failing:
        yield "Nothing fails."
        yield ""
        return
    tried = each.peer.tried()
    by_reason: dict[str, list[str]] = {}
    for name in failing:
        by_reason.setdefault(each.peer.why(name) or NOT_READ, []).append(name)
    for why, names in by_reason.items():
        marked = (f"{name}{TRIED * (name in tried)}" for name in names)
        yield f"* {', '.join(marked)}: {one_line(why)}"
    blocked = [name for name, said in each.result.requirements.items() if said["blocked_by"]]
    if blocked:
        yield f"* not decided, for want of what fails above: {', '.join(blocked)}"
    yield ""
    yield f"      {one_line(each.repro(failing[0]))}"
    yield ""
