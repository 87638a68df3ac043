"""The verb `products`: third-party software, installed on request, judged and compared."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from boxspec.cli.arguments import check_contracts
from boxspec.cli.verbs import verb_parser
from boxspec.errors import NotConforming, UsageError
from boxspec.places import COMMAND
from boxspec.printable import one_line
from boxspec.products import compare, judging
from boxspec.products.declared import (
    ADAPTERS,
    TEMPLATE,
    Product,
    every,
    installed_versions,
    product,
)
from boxspec.products.installing import install, state, why_not_started
from boxspec.products.judging import Judged, Question
from boxspec.products.page import Requirements
from boxspec.products.trying import results_of_tries
from boxspec.products.view import View
from boxspec.report.output_file import OutputFile, console_of, expect_distinct
from boxspec.subject import contract
from boxspec.words import Parser, count

LIMIT_S = 1800
NAME = re.compile(r"[a-z][a-z0-9-]*")
EPILOG = """\
A product is a library (a folder with a product.yaml) or a sandbox (an adapter, NAME.py) below
conformance/shims/products. `matrix` exits 0 when it was made: it shows, it does not judge. Its JSON
is for `report --peers`, and what --results keeps is for `report --backends`. Read
.github/SECURITY.md before you show a matrix of sandboxes to others."""


def parse(words: Sequence[str]) -> argparse.Namespace:
    made = verb_parser("products", EPILOG)
    verbs = made.add_subparsers(dest="what", metavar="WHAT", required=True, parser_class=Parser)

    def verb(name: str, about: str) -> argparse.ArgumentParser:
        return verbs.add_parser(name, help=about, description=about)

    about = "a product: its name, NAME@VERSION, its folder or its adapter file"
    listing = verb("list", "the products that start here, and why the others do not")
    only = "only products of this contract (repeatable)"
    listing.add_argument("--contract", action="append", default=[], metavar="C", help=only)
    installing = verb("install", "fetch and build products below build/products; exit 3 on failure")
    installing.add_argument("names", metavar="NAME", nargs="+", help=about)
    new = verb("new", "write NAME.py here: an adapter of a sandbox to fill in")
    new.add_argument("name", metavar="NAME")
    comparing = verb("compare", "print which cells of two matrices differ; exit 1 if any does")
    comparing.add_argument("matrices", nargs=2, metavar="MATRIX.json")
    trying = verb("try", "reproduce the failures without the kit; exit 1 if one does not occur")
    trying.add_argument("names", metavar="NAME", nargs="+", help=about)
    _matrix_options(verb("matrix", "run the suite against products and show them side by side"))
    return made.parse_args(words)


def _matrix_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    more = "(repeatable)"
    views = [each.name for each in contract.every() if each.products]
    about = "products to judge (default: all libraries; with --contract all products of it)"
    add("names", metavar="NAME", nargs="*", help=about)
    add("--only", action="append", default=[], metavar="NAME", help=f"the same as NAME {more}")
    about = f"only this contract {more}; {', '.join(views)} has a matrix of its own, by aspect"
    add("--contract", action="append", default=[], metavar="C", help=about)
    add("--topic", action="append", default=[], metavar="T", help=f"only this topic {more}")
    add(
        "--limit",
        type=count,
        default=LIMIT_S,
        metavar="S",
        help="time limit for each product, in seconds",
    )
    add("-j", "--jobs", type=count, metavar="N", help="run at most N long tests in parallel")
    add("--json", metavar="FILE", help="the matrix")
    add("--md", metavar="FILE", help="the matrix as Markdown")
    add("--results", type=Path, metavar="FOLDER", help="keep the result of each product there")
    about = "with --results: judge only products without a result of this kit, host and version"
    add("--resume", action="store_true", help=about)
    about = "show the results that --results has kept; run no test"
    add("--from", type=Path, dest="source", metavar="FOLDER", help=about)
    add(
        "--compare",
        nargs=2,
        metavar=("A.json", "B.json"),
        help="the same as `boxspec products compare`",
    )


def list_products(contracts: Sequence[str]) -> int:
    check_contracts(list(contracts))
    chosen = [each for each in every() if not contracts or {*contracts} & {*each.contracts}]
    for each in [one for plain in chosen for one in (plain, *installed_versions(plain))]:
        found = state(each)
        problem = why_not_started(each) if found.version else ""
        line = f"{found.version}, does not start here: {problem}" if problem else found.version
        role = " (a control, must fail)" if each.control else ""
        print(f"{each.word:18} {one_line(line or found.why)}{role}")
        place = each.homepage or each.documents
        print(f"{'':18} {' '.join(each.contracts)}; {each.about}; {place}")
    return 0


def install_products(names: Sequence[str]) -> int:
    status = 0
    for each in [product(name) for name in names]:
        found = install(each)
        status = status if found.version else 3
        print(f"{each.word:18} {one_line(found.version or found.why)}")
    return status


def new_adapter(name: str) -> int:
    if not NAME.fullmatch(name):
        raise UsageError(name, "is not a valid name", "use lower-case letters, digits and -")
    file = Path(f"{name.replace('-', '_')}.py")
    if file.exists():
        raise UsageError(str(file), "exists already", "use another name")
    text = TEMPLATE.read_text(encoding="utf-8").replace("NAME", name)
    file.write_text(text.replace("COMMAND", COMMAND), encoding="utf-8")
    shim = shlex.quote(shlex.join([str(ADAPTERS), f"./{file}"]))
    print(f"{file} is written. Fill it in, then:")
    print(f"  {COMMAND} smoke --shim {shim}")
    print(f"  {COMMAND} products matrix ./{file}")
    return 0


def try_products(names: Sequence[str]) -> int:
    status = 0
    for each in [product(name) for name in names]:
        print(each.word)
        for seen in results_of_tries(each):
            status = status if seen.seen else 1
            print(f"  {one_line(seen.line)}", flush=True)
    return status


def views() -> dict[str, View]:
    """Return the views that contracts declare, by contract."""
    return {each.name: each.view() for each in contract.every() if each.products}


def matrix(args: argparse.Namespace) -> int:
    known = views()
    if args.compare:
        return compare.main(args.compare, [Requirements(), *known.values()])
    check_contracts(args.contract)
    if args.resume and not args.results:
        raise UsageError("--resume", "needs a folder to continue from", "add --results FOLDER")
    files = [(flag, name) for flag, name in (("--json", args.json), ("--md", args.md)) if name]
    outputs = [(flag, OutputFile(flag, name)) for flag, name in files]
    written = [file for _, file in outputs]
    expect_distinct(written)
    chosen, view = _chosen(args, known)
    for topic in args.topic:
        if view.topics and topic not in view.topics:
            known_topics = f"known: {', '.join(view.topics)}"
            raise UsageError(f"--topic {topic}", "is not a topic of this matrix", known_topics)
    question = Question(args.contract, args.topic or view.topics, args.limit, args.jobs)
    chosen = [each for each in chosen if question.contracts_of(each)]
    if not chosen:
        raise NotConforming("no product is left to judge")
    found = _judged(chosen, question, view, args)
    for flag, file in outputs:
        if flag == "--json":
            file.write(json.dumps(view.plain(found), indent=2, ensure_ascii=True) + "\n")
        else:
            file.write(view.page(_command(args), found))
    for line in view.lines(found):
        print(one_line(line), file=console_of(written))
    return 0


def _chosen(args: argparse.Namespace, known: dict[str, View]) -> tuple[list[Product], View]:
    """Return the products of a matrix, and the view that shows all of them."""
    names = dict.fromkeys([*args.names, *args.only])
    found = [one for name in names for one in _products_of(name, known)]
    if not names:
        wanted = {*args.contract} & {*known}
        for name in wanted:
            found += known[name].own("")
        found += [each for each in every() if {*each.contracts} & {*known} == wanted]
    shown_by = {name for each in found for name in each.contracts if name in known}
    if len(shown_by) > 1 or (shown_by and any(not {*each.contracts} & shown_by for each in found)):
        remedy = f"judge those of {', '.join(sorted(shown_by))} in a matrix of their own"
        raise UsageError(", ".join(names) or "matrix", "are not shown by one view", remedy)
    return found, known[shown_by.pop()] if shown_by else Requirements()


def _products_of(name: str, known: dict[str, View]) -> list[Product]:
    own = [one for view in known.values() for one in view.own(name)]
    return own or [product(name)]


def _judged(
    chosen: Sequence[Product], question: Question, view: View, args: argparse.Namespace
) -> list[Judged]:
    if args.source:
        return [judging.last_result(each, args.source) for each in chosen]
    with tempfile.TemporaryDirectory(prefix="boxspec-products-") as folder:
        results = args.results or Path(folder)
        results.mkdir(parents=True, exist_ok=True)
        host = view.host()
        found = []
        for each in chosen:
            one = judging.kept_answer(each, question, host, results) if args.resume else None
            print(f"{each.word} {'…' if one is None else 'is kept'}", file=sys.stderr, flush=True)
            if one is None:
                now = state(each)
                one = Judged(each, now.version, why=now.why)
                if not one.why:
                    view.ask(one)
                if not one.why:
                    judging.run(one, question, results)
                    judging.keep(one, question, host, results)
            found.append(one)
        return found


def _command(args: argparse.Namespace) -> str:
    """Return the command that makes the page again."""
    words = [COMMAND, "products", "matrix", *args.names]
    for flag, given in (("--contract", args.contract), ("--topic", args.topic)):
        words += [word for name in given for word in (flag, name)]
    words += [word for name in args.only for word in ("--only", name)]
    return shlex.join([*words, "--md", args.md or "FILE"])


def main(words: Sequence[str]) -> int:
    args = parse(words)
    if args.what == "list":
        return list_products(args.contract)
    if args.what == "install":
        return install_products(args.names)
    if args.what == "new":
        return new_adapter(args.name)
    if args.what == "try":
        return try_products(args.names)
    if args.what == "compare":
        return compare.main(args.matrices, [Requirements(), *views().values()])
    return matrix(args)
