"""The verb `backends`: the sandboxes with an adapter here, installed on request."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from boxspec.errors import UsageError
from boxspec.printable import one_line
from boxspec.words import Parser
from contracts.backend.peers import adapters
from contracts.backend.peers.adapters import Adapter

NAME = re.compile(r"[a-z][a-z0-9-]*")
# The longest of them compile a product.
WITHIN_S = 1800
# What needs root, and gets it by sudo where we are somebody else.
ROOTS = ("apt-get",)


def parse(words: Sequence[str]) -> argparse.Namespace:
    made = Parser(prog="boxspec backends", description="Sandboxes that other people make.")
    verbs = made.add_subparsers(dest="what", metavar="WHAT", required=True, parser_class=Parser)
    what = "the adapters, and what is installed of them"
    verbs.add_parser("list", help=what, description=what)
    what = "installs a product, as its adapter says; exits 3 if that fails"
    add = verbs.add_parser("install", help=what, description=what).add_argument
    add("names", metavar="NAME", nargs="+")
    what = "writes NAME.py here: an adapter to fill in"
    add = verbs.add_parser("new", help=what, description=what).add_argument
    add("name", metavar="NAME")
    return made.parse_args(words)


def listed() -> int:
    for each in adapters.every():
        role = " (a control, must fail)" if each.control else ""
        print(f"{each.name:17} {one_line(each.state())}{role}")
        print(f"{'':17} {each.about}; {each.homepage}")
    return 0


def install(names: Sequence[str]) -> int:
    """Each of them, and then what came of it."""
    status = 0
    for each in [adapters.adapter(name) for name in names]:
        why = _install(each)
        now = adapters.adapter(each.word)
        if why is None and now.version is None:
            why = "it installs, and is not found afterwards"
        if why is None:
            each.failed.unlink(missing_ok=True)
        else:
            each.failed.parent.mkdir(parents=True, exist_ok=True)
            each.failed.write_text(f"cannot be installed: {why}")
            status = 3
        print(f"{each.name:17} {one_line(adapters.adapter(each.word).state())}")
    return status


def _install(each: Adapter) -> str | None:
    """Why it cannot be installed, or None."""
    Path(each.home).parent.mkdir(parents=True, exist_ok=True)
    for words in each.installs:
        argv = ["sudo", *words] if words[0] in ROOTS and os.geteuid() != 0 else list(words)
        if shutil.which(argv[0]) is None:
            return f"there is no {argv[0]}"
        print(f"+ {' '.join(argv)}", flush=True)
        try:
            done = subprocess.run(
                argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=WITHIN_S, check=False
            )
        except subprocess.TimeoutExpired:
            return f"{words[0]} does not end within {WITHIN_S} s"
        if done.returncode:
            said = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
            told = [line for line in said if "error" in line.lower()] or said or ["no word"]
            return f"{words[0]}: {told[0].strip()}"
    return None


def new(name: str) -> int:
    if not NAME.fullmatch(name):
        raise UsageError(name, "is no name", "take small letters, digits and -")
    file = Path(f"{name.replace('-', '_')}.py")
    if file.exists():
        raise UsageError(str(file), "is there already", "take another name")
    text = adapters.TEMPLATE.read_text(encoding="utf-8").replace("NAME", name)
    file.write_text(text, encoding="utf-8")
    shim = adapters.shim(f"./{file}")
    print(f"{file} is written. Fill it in, then:")
    print(f"  ./ci/boxspec smoke --shim '{shim}'")
    print(f"  ./ci/boxspec matrix ./{file}")
    return 0


def main(words: Sequence[str]) -> int:
    args = parse(words)
    if args.what == "list":
        return listed()
    if args.what == "install":
        return install(args.names)
    return new(args.name)
