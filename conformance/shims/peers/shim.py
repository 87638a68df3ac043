#!/usr/bin/env -S python3 -I -S
"""A product behind the protocol: shim.py NAME (run REQUEST RESPONSE | serve).

NAME is an adapter of the folder products, or a file ADAPTER.py. --list names the adapters,
NAME --facts says what one is, NAME --starts whether it starts here; all in JSON.
"""

from __future__ import annotations

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "python"), os.path.dirname(HERE)]

from files import write_all
from jsonwire import dump
from peers.adapter import Adapter
from peers.ops import PeerShim, facts, starts
from protocol import complain, main

PRODUCTS = os.path.join(HERE, "products")


def names() -> list[str]:
    return sorted(
        name[:-3].replace("_", "-")
        for name in os.listdir(PRODUCTS)
        if name.endswith(".py") and name != "__init__.py"
    )


def load(word: str) -> Adapter:
    """The adapter of this name, or in this file. SystemExit names what is wrong with it."""
    file = word
    if not word.endswith(".py"):
        if word not in names():
            raise SystemExit(complain(f"no adapter is called {word}; known: {', '.join(names())}"))
        file = os.path.join(PRODUCTS, word.replace("-", "_") + ".py")
    name = os.path.basename(file)[:-3].replace("_", "-")
    spec = spec_from_file_location("adapter_of_this_run", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as why:
        raise SystemExit(complain(f"{file}: {type(why).__name__}: {why}")) from None
    product = getattr(module, "Product", None)
    if not isinstance(product, type) or not issubclass(product, Adapter):
        raise SystemExit(complain(f"{file}: there is no class Product(Adapter)"))
    return product(name)


def start(words: list[str]) -> int:
    match words:
        case ["--list"]:
            write_all(1, dump(names()).encode() + b"\n")
            return 0
        case [name, "--facts"]:
            write_all(1, dump(facts(load(name))).encode() + b"\n")
            return 0
        case [name, "--starts"]:
            write_all(1, dump(starts(load(name))).encode() + b"\n")
            return 0
        case [name, *rest] if not name.startswith("-"):
            PeerShim.adapter = load(name)
            sys.argv[1:] = rest
            return main(PeerShim)
    return complain(
        "usage: shim.py NAME (run REQUEST RESPONSE | serve | --facts | --starts) | --list"
    )


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    try:
        status = start(sys.argv[1:])
    except SystemExit as why:
        status = int(str(why))
    os._exit(status)
