"""The verb `report`: write other formats of earlier results."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from boxspec.cli.arguments import FILES, OUTPUTS, output_flags
from boxspec.cli.outputs import FORMATS
from boxspec.cli.verbs import verb_parser
from boxspec.errors import UsageError
from boxspec.report.formats import badge, html, markdown
from boxspec.report.join import joined, shard_of
from boxspec.report.output_file import OutputFile, expect_distinct
from boxspec.report.result import Result, checked, document, read

EPILOG = """\
--backends and --peers take results of `run --json`, or a file with several as {"results": [...]}.
Results of --earlier get no column: they show since when an implementation of that name fails.
Results of `run --shard` are joined, with the verdicts of a run without shards. Only --html and --md
take several results that are not shards of one run.
exit codes: 0 everything is written; 2 wrong usage, or a file is not a result; for shards that of
the joined run."""

# These formats can hold only one result.
ALONE = {flag: render for flag, render in FORMATS.items() if flag != "--md"}


def results(flag: str, names: Iterable[str]) -> list[Result]:
    found: list[Result] = []
    for name in names:
        plain: Any = document(flag, name)
        many = plain.get("results") if isinstance(plain, dict) and "schema" in plain else None
        place = f"{flag} {name}".strip()
        if not isinstance(many, list):
            many = [plain]
        found += [Result.of(checked(place, each)) for each in many]
    return found


def _flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", metavar="RESULT", nargs="+", help="a result of `run --json`")
    output_flags(parser.add_argument_group(FILES))
    add = parser.add_argument_group("more results for the page").add_argument
    for flag, metavar, about in (
        ("--earlier", "RESULT", "an older result"),
        ("--backends", "FILE", "result of one sandbox backend"),
        ("--peers", "FILE", "result of a third-party library"),
    ):
        about += " (repeatable)"
        add(flag, action="append", metavar=metavar, default=[], help=about)
    add("--faults", metavar="FILE", help="a result of `boxspec dev faults --json`")


def main(words: Sequence[str]) -> int:
    parser = verb_parser("report", EPILOG, usage="[OPTION...] RESULT...")
    _flags(parser)
    # RESULT arguments may stand before and after options.
    args = parser.parse_intermixed_args(words)
    alone = {flag: getattr(args, flag.removeprefix("--")) for flag in ALONE}
    if not (args.html or args.md or args.badge or any(alone.values())):
        raise UsageError("report", "has no output file", f"name one of {', '.join(OUTPUTS)}")
    every = [read(name) for name in args.results]
    whole = joined(every) if any(shard_of(each) for each in every) else None
    given = html.Given(
        every if whole is None else [whole],
        results("--earlier", args.earlier),
        results("--backends", args.backends),
        results("--peers", args.peers),
        _faults(args.faults),
    )
    single = [name for name in (*alone.values(), *(args.badge or ())) if name]
    if single and len(given.results) > 1:
        raise UsageError(f"report {single[0]}", "takes one result", "name only one RESULT")
    outputs: list[tuple[OutputFile, Callable[[], str]]] = []
    for name in args.badge or ():
        render = badge.renderer(name)
        outputs.append((OutputFile("--badge", name), partial(render, given.results[0])))
    for flag, name in alone.items():
        if name:
            outputs.append((OutputFile(flag, name), partial(ALONE[flag], given.results[0])))
    if args.md:
        outputs.append((OutputFile("--md", args.md), partial(markdown.render_all, given.results)))
    page = OutputFile("--html", args.html, stdout=False) if args.html else None
    expect_distinct([*(file for file, _ in outputs), *([page] if page else [])])
    for file, text in outputs:
        file.write(text())
    if page is not None:
        html.write(page, given)
    if whole is None:
        return 0
    print(f"{whole.words} · exit {whole.status}")
    return whole.status


def _faults(name: str | None) -> Any:
    if name is None:
        return None
    return checked(f"--faults {name}", document("--faults", name), "faults.json")
