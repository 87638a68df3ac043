"""The verb `matrix`: backends beside each other, by aspect and by probe."""

from __future__ import annotations

import argparse
import json
import platform
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from boxspec.errors import NotConforming, UsageError
from boxspec.judge.host import host
from boxspec.judge.kit import kit
from boxspec.printable import one_line
from boxspec.subject.client.command import REFERENCE, reference_argv
from boxspec.subject.session import Session
from boxspec.subject.trust import trust
from boxspec.words import Parser, count
from contracts.backend.host import landlock_abi, number
from contracts.backend.peers import adapters, compare, kept, markdown
from contracts.backend.peers.cells import TOPICS
from contracts.backend.peers.compare import SCHEMA
from contracts.backend.peers.judged import Candidate, Column, judged, version

# Of the reference's backends; `reference` alone is all of them.
OWN = "reference"
LIMIT_S = 1800


def parse(words: Sequence[str]) -> argparse.Namespace:
    made = Parser(
        prog="boxspec matrix",
        description="Backend by probe: what was claimed, what held, what escaped.",
        epilog="Exits 0 when it was made: a matrix shows, it does not judge. Read"
        " .github/SECURITY.md before anybody else sees one.",
    )
    add = made.add_argument
    about = f"adapters, files ADAPTER.py, {OWN}, {OWN}:BACKEND (default: all that start here)"
    add("names", metavar="NAME", nargs="*", help=about)
    add("--json", metavar="FILE", help=f"the matrix (schema {SCHEMA})")
    add("--md", metavar="FILE", help="the same for people, as Markdown")
    kept = "keep the result of each there, for `boxspec report --backends`"
    add("--results", metavar="FOLDER", type=Path, help=kept)
    about = f"only attempts of it (repeatable): {', '.join(TOPICS)}"
    add("--topic", action="append", choices=TOPICS, metavar="TOPIC", help=about)
    about = (
        "with --results: keeps each column that is complete there, made by this kit on this host of"
        " the version that is installed, and makes the others"
    )
    add("--resume", action="store_true", help=about)
    about = "say which cells differ in two matrices, and exit 1 if any does; asks nobody"
    add("--compare", nargs=2, metavar=("A.json", "B.json"), help=about)
    add("--limit", type=count, default=LIMIT_S, metavar="S", help="seconds for each backend")
    return made.parse_args(words)


def candidates(names: Sequence[str]) -> list[Candidate]:
    if not names:
        found = [each for each in adapters.every() if each.version is not None]
        return [*_of_reference(""), *(_of(each) for each in found)]
    made: list[Candidate] = []
    for name in names:
        kind, _, backend = name.partition(":")
        made += _of_reference(backend) if kind == OWN else [_of(adapters.adapter(name))]
    return list(dict.fromkeys(made))


def _of(each: adapters.Adapter) -> Candidate:
    return Candidate(each.name, each.shim, each.name, each.control)


def _of_reference(backend: str) -> list[Candidate]:
    """One of its backends, or each one that confines."""
    session = Session(reference_argv())
    try:
        trust(session, contracts=[])
        known = [name for name in session.hello.get("backends", {}) if name != "none"]
    finally:
        session.close()
    if backend and backend not in known:
        raise UsageError(f"{OWN}:{backend}", "no such backend", f"known: {', '.join(known)}")
    shim = shlex.join([str(adapters.as_typed(REFERENCE))])
    chosen = [backend] if backend else known
    return [Candidate(f"{OWN}:{name}", shim, name) for name in chosen]


def facts() -> dict[str, Any]:
    """What of this machine a cell may depend on."""
    names = ("user.max_user_namespaces", "kernel.io_uring_disabled", "dev.tty.legacy_tiocsti")
    found = host()
    return {
        **{name: found[name] for name in ("system", "release", "machine", "root")},
        "distribution": platform.freedesktop_os_release().get("PRETTY_NAME", "?"),
        "landlock_abi": landlock_abi(),
        **{name: number(f"/proc/sys/{name.replace('.', '/')}") for name in names},
    }


def plain(columns: Sequence[Column]) -> dict[str, Any]:
    return {"schema": SCHEMA, "host": facts(), "backends": [each.to_json() for each in columns]}


def _expect_writable(flag: str, path: Path) -> None:
    """Known before the run, so that nothing is lost."""
    existed = path.exists()
    try:
        with path.open("a", encoding="utf-8"):
            pass
    except OSError as why:
        problem = f"cannot be written: {why.strerror}"
        raise UsageError(f"{flag} {path}", problem, "name another file") from None
    if not existed:
        path.unlink()


def main(words: Sequence[str]) -> int:
    args = parse(words)
    if args.compare:
        return compare.main(*args.compare)
    if args.resume and not args.results:
        raise UsageError("--resume", "there is nothing to go on with", "add --results FOLDER")
    for flag, name in (("--json", args.json), ("--md", args.md)):
        if name:
            _expect_writable(flag, Path(name))
    if args.results:
        args.results.mkdir(parents=True, exist_ok=True)
    columns: list[Column] = []
    topics: list[str] = args.topic or list(TOPICS)
    here = facts()
    for each in candidates(args.names):
        column = None
        if args.resume:
            column = kept.read(args.results, each, topics, here, version(each), kit())
        print(f"{each.label} {'…' if column is None else 'is kept'}", file=sys.stderr, flush=True)
        if column is None:
            column = judged(each, topics, args.limit, args.results)
            if args.results:
                kept.write(args.results, column, topics, here)
        columns.append(column)
    if not columns:
        raise NotConforming("no backend is left to ask")
    if args.json:
        text = json.dumps(plain(columns), indent=2, ensure_ascii=True) + "\n"
        Path(args.json).write_text(text, encoding="utf-8")
    if args.md:
        Path(args.md).write_text(markdown.render(facts(), columns), encoding="utf-8")
    for line in markdown.summary(columns):
        print(one_line(line))
    return 0
