"""The verb `peers`: libraries that other people make, installed on request, beside each other."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from boxspec.cli.arguments import check_contracts
from boxspec.cli.verbs import verb_parser
from boxspec.errors import NotConforming
from boxspec.peers import page
from boxspec.peers.declared import Peer, every, peer
from boxspec.peers.installing import install, state
from boxspec.peers.judging import Asked, Judged, contracts_of, judged, kept
from boxspec.peers.trying import shown
from boxspec.places import COMMAND
from boxspec.printable import one_line
from boxspec.report.files import OutputFile
from boxspec.words import Parser, count

SCHEMA = "boxspec-peers/1"
LIMIT_S = 1800

EPILOG = """\
A peer is a folder below conformance/shims/peers with a peer.yaml. `matrix` exits 0 when it was
made: it shows, it does not judge. What it writes with --json is for `boxspec report --peers`."""


def parse(words: Sequence[str]) -> argparse.Namespace:
    made = verb_parser("peers", EPILOG)
    verbs = made.add_subparsers(dest="what", metavar="WHAT", required=True, parser_class=Parser)
    what = "what is installed, what is missing, and why"
    verbs.add_parser("list", help=what, description=what)
    what = "fetches and builds them below build/peers; exits 3 if that fails"
    add = verbs.add_parser("install", help=what, description=what).add_argument
    add("names", metavar="NAME", nargs="+", help="a peer, or a folder with a peer.yaml")
    what = "what was tried without the kit, shown again; exits 1 where it is not seen"
    add = verbs.add_parser("try", help=what, description=what).add_argument
    add("names", metavar="NAME", nargs="+", help="a peer, or a folder with a peer.yaml")
    what = "the suite against each that is installed, beside each other"
    _matrix(verbs.add_parser("matrix", help=what, description=what))
    return made.parse_args(words)


def _matrix(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    more = "(repeatable)"
    add("--contract", action="append", default=[], metavar="C", help=f"peers of it {more}")
    add("--only", action="append", metavar="NAME", help=f"a peer, or its folder {more}")
    add("--topic", action="append", default=[], metavar="T", help=f"this topic alone {more}")
    add("--limit", type=count, default=LIMIT_S, metavar="S", help="seconds for each peer")
    add("-j", dest="jobs", type=count, metavar="N", help="at most N long tests at once")
    add("--json", metavar="FILE", help=f"all results (schema {SCHEMA})")
    add("--md", metavar="FILE", help="the page")
    add("--results", type=Path, metavar="FOLDER", help="keep the result of each there")
    taken = "results that --results kept, and nothing is run"
    add("--from", type=Path, dest="source", metavar="FOLDER", help=taken)


def listed() -> int:
    for each in every():
        found = state(each)
        print(f"{each.word:18} {one_line(found.version or found.why)}")
        print(f"{'':18} {' '.join(each.contracts)}; {each.about}; {each.documents}")
    return 0


def installed(words: Sequence[str]) -> int:
    status = 0
    for each in [peer(word) for word in words]:
        found = install(each)
        status = status if found.version else 3
        print(f"{each.word:18} {one_line(found.version or found.why)}")
    return status


def tried(words: Sequence[str]) -> int:
    status = 0
    for each in [peer(word) for word in words]:
        print(each.word)
        for told in shown(each):
            status = status if told.seen else 1
            print(f"  {one_line(told.line)}", flush=True)
    return status


def matrix(args: argparse.Namespace) -> int:
    check_contracts(args.contract)
    outputs = [(flag, OutputFile(flag, name)) for flag, name in _named(args)]
    asked = Asked(args.contract, args.topic, args.limit, args.jobs)
    chosen = [each for each in _chosen(args.only) if contracts_of(each, asked)]
    if not chosen:
        raise NotConforming("no peer is left to ask")
    found = _asked(chosen, asked, args)
    for flag, file in outputs:
        file.write(_plain(found) if flag == "--json" else page.render(_command(args), found))
    for each in found:
        said = each.result.denominators() if each.result else ""
        print(one_line(f"{each.peer.word:18} {'; '.join(filter(None, [said, each.why]))}"))
    for each, name in page.unread(found):
        print(one_line(f"nobody has read {name}: {each.repro(name)}"))
    return 0


def _named(args: argparse.Namespace) -> list[tuple[str, str]]:
    given = (("--json", args.json), ("--md", args.md))
    return [(flag, name) for flag, name in given if name]


def _chosen(only: Sequence[str] | None) -> list[Peer]:
    return every() if only is None else [peer(word) for word in dict.fromkeys(only)]


def _asked(chosen: Sequence[Peer], asked: Asked, args: argparse.Namespace) -> list[Judged]:
    if args.source:
        return [kept(each, args.source) for each in chosen]
    with tempfile.TemporaryDirectory(prefix="boxspec-peers-") as folder:
        results = args.results or Path(folder)
        results.mkdir(parents=True, exist_ok=True)
        found = []
        for each in chosen:
            print(f"{each.word} …", file=sys.stderr, flush=True)
            found.append(judged(each, asked, results))
        return found


def _plain(found: Sequence[Judged]) -> str:
    results = [each.result.plain for each in found if each.result]
    return json.dumps({"schema": SCHEMA, "results": results}, ensure_ascii=True) + "\n"


def _command(args: argparse.Namespace) -> str:
    """What makes the page from nothing."""
    words = [COMMAND, "peers", "matrix"]
    for flag, given in (("--contract", args.contract), ("--topic", args.topic)):
        words += [word for name in given for word in (flag, name)]
    words += [word for name in args.only or () for word in ("--only", name)]
    return " ".join([*words, "--md", args.md or "FILE"])


def main(words: Sequence[str]) -> int:
    args = parse(words)
    if args.what == "list":
        return listed()
    if args.what == "install":
        return installed(args.names)
    if args.what == "try":
        return tried(args.names)
    return matrix(args)
