"""Show a matrix of a contract that has no view of its own.

It shows the requirements by topic, the failures and their reasons.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from boxspec.judge.verdict import BROKEN, Verdict
from boxspec.places import COMMAND
from boxspec.printable import one_line
from boxspec.products.declared import Product
from boxspec.products.judging import Facts, Judged
from boxspec.products.view import Columns
from boxspec.report.formats.html import SIGNS
from boxspec.report.formats.markdown import table, text
from boxspec.report.formats.matrix import Matrix, Run
from boxspec.report.result import Plain, Result

LEVELS = ("MUST", "SHOULD", "MAY")
TRIED = "°"
INTRODUCTION = (
    "Each library is tested through a shim that follows the library's own documentation. A library",
    "may break a contract and still keep its own promises. The reason of each failure follows, as",
    "the request, the expected and the actual result show it. A requirement with a",
    f"{TRIED} fails without the kit too, in a few lines that use only the library:",
    f"`{COMMAND} products try NAME` shows it.",
)
NO_REASON = "no reason is declared yet"


class Requirements:
    """The view of a contract that declares no other view.

    It asks no questions before a run, and compares verdicts of requirements.
    """

    schema = "boxspec-peers/1"
    topics: Sequence[str] = ()

    def own(self, word: str) -> list[Product]:
        return []

    def host(self) -> Facts:
        return {}

    def ask(self, judged: Judged) -> None:
        pass

    def plain(self, found: Sequence[Judged]) -> Facts:
        results = [each.result.plain for each in found if each.result]
        return {"schema": self.schema, "results": results}

    def columns(self, plain: Facts) -> Columns:
        found: Columns = {}
        for each in plain["results"]:
            said = each["target"]["implementation"]
            cells = {
                one["id"]: {"verdict": one["verdict"]}
                for one in each["requirements"]
                if one["verdict"] != Verdict.NOT_APPLICABLE
            }
            found[said["name"]] = ({"version": said.get("version", "")}, cells)
        return found

    def page(self, command: str, found: Sequence[Judged]) -> str:
        return "\n".join(_lines(command, found)).rstrip() + "\n"

    def lines(self, found: Sequence[Judged]) -> Iterator[str]:
        for each in found:
            score = each.result.denominators() if each.result else ""
            yield f"{each.product.word:18} {'; '.join(filter(None, [score, each.why]))}"
        for each, name in without_reason(found):
            yield f"no reason is declared for {name}: {repro(each, name)}"


def repro(judged: Judged, requirement: str) -> str:
    return shlex.join([COMMAND, "repro", "--shim", judged.product.shim(), requirement])


def without_reason(found: Sequence[Judged]) -> list[tuple[Judged, str]]:
    """Return the failures for which the product declares no reason."""
    return [
        (each, name)
        for each in found
        if each.result
        for name in each.result.requirements
        if is_broken(each.result, name) and not each.product.why(name)
    ]


def is_broken(result: Result, name: str) -> bool:
    """True if the requirement fails by itself.

    A blocked requirement does not count: the report names the requirement that blocks it.
    """
    each = result.requirements.get(name)
    return each is not None and Verdict(each["verdict"]) in BROKEN


def _lines(command: str, products: Sequence[Judged]) -> Iterator[str]:
    yield "# Libraries by contract"
    yield ""
    yield from INTRODUCTION
    yield ""
    yield "One command makes this page; the sentences come from each `product.yaml`:"
    yield ""
    yield f"    {command}"
    yield ""
    yield from _table_of_products(products)
    asked = [each for each in products if each.result]
    runs = [
        Run("products", each.product.word, each.product.name, each.result)
        for each in asked
        if each.result
    ]
    matrix = Matrix("products", runs)
    for contract in matrix.contracts():
        mine = [run for run in runs if contract in run.result.plain["summary"]["contracts"]]
        yield from _topics(contract, Matrix("products", mine))
        yield from _requirements(contract, Matrix("products", mine))
    for each in asked:
        yield from _read(each)


def _table_of_products(products: Sequence[Judged]) -> Iterator[str]:
    yield from _facts(products)
    rows = []
    for each in products:
        parts = [part.split(" ", 1)[1] for part in each.result.fractions()] if each.result else []
        rows.append(
            (
                each.product.word,
                each.product.name,
                each.version,
                each.product.language,
                *(parts or ("", "")),
                _judged(each.result) if each.result else "",
                each.why,
            )
        )
    heads = ("product", "name", "version", "language", "contract", "hardened", "judged", "remark")
    yield from table(heads, rows)
    yield ""
    for each in products:
        yield f"* {text(each.product.word)}: {text(each.product.about)}; <{each.product.documents}>"
    yield ""


def _facts(products: Sequence[Judged]) -> Iterator[str]:
    """Return a line for each machine, with the versions of the kit that judged on it."""
    found: dict[str, None] = {}
    for result in (each.result for each in products if each.result):
        facts, kit = result.facts(), result.plain["kit"]
        machine = f"{facts['host']}, {facts['user']}, Python {facts['python']}"
        found[f"{machine}; boxspec {kit['version']}"] = None
    for each in found:
        yield text(each)
        yield ""


def _judged(result: Result) -> str:
    """Return the day of the run, and the commit of the kit. Both may differ between products."""
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
    parts = []
    for level in LEVELS:
        mine = [result.requirements.get(each["id"]) for each in rows if each["level"] == level]
        of = [each for each in mine if each and each["verdict"] != Verdict.NOT_APPLICABLE]
        if of:
            good = sum(each["verdict"] == Verdict.CONFORMS for each in of)
            parts.append(f"{level} {good}/{len(of)}")
    return ", ".join(parts)


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
    """Return a line for each declared reason, and one command that reproduces a failure."""
    assert each.result is not None
    failing = [name for name in each.result.requirements if is_broken(each.result, name)]
    named = "" if each.product.name == each.product.word else f": {text(each.product.name)}"
    yield f"## {each.product.word}{named}"
    yield ""
    if not failing:
        yield "Nothing fails."
        yield ""
        return
    tried = each.product.tried()
    by_reason: dict[str, list[str]] = {}
    for name in failing:
        by_reason.setdefault(each.product.why(name) or NO_REASON, []).append(name)
    for why, names in by_reason.items():
        marked = (f"{name}{TRIED * (name in tried)}" for name in names)
        yield f"* {', '.join(marked)}: {one_line(why)}"
    blocked = [name for name, one in each.result.requirements.items() if one["blocked_by"]]
    if blocked:
        yield f"* not decided because of the failures above: {', '.join(blocked)}"
    yield ""
    yield f"      {one_line(repro(each, failing[0]))}"
    yield ""
