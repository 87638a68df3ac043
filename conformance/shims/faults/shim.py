#!/usr/bin/env -S python3 -I -S
"""The Python implementation with one fault: shim.py --fault ID run REQUEST RESPONSE.

--list prints all faults as JSON.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "python"), os.path.dirname(HERE)]

import contract
from faults.registry import FAULTS, Fault
from files import write_all
from jsonwire import dump
from protocol import Shim, complain, main


def load(name: str) -> Fault | None:
    """Import only the files of the fault's topic, so that the shim starts as fast as without a
    fault."""
    folder, _, topic = name.partition(".")[0].partition("-")
    if folder in folders():
        for stem in stems(folder):
            if stem == topic or stem.startswith(f"{topic}_"):
                import_module(f"faults.{folder}.{stem}")
    return FAULTS.get(name)


def folders() -> list[str]:
    """Return the folder of faults for each contract that the Python implementation has."""
    return [name for name in contract.every() if os.path.isdir(os.path.join(HERE, name))]


def stems(folder: str) -> list[str]:
    names = sorted(os.listdir(os.path.join(HERE, folder)))
    return [name[:-3] for name in names if name.endswith(".py")]


def take(folder: str, stem: str) -> None:
    """Import a file of faults. It is skipped if it needs a contract that is not installed."""
    try:
        import_module(f"faults.{folder}.{stem}")
    except ModuleNotFoundError as why:
        missing = str(why.name).split(".")[0]
        if missing in contract.every() or not os.path.isdir(os.path.join(HERE, missing)):
            raise


def catalogue() -> list[dict[str, str | None]]:
    for folder in folders():
        for stem in stems(folder):
            take(folder, stem)
    return [fault.as_json() for fault in FAULTS.values()]


def start(arguments: list[str]) -> int:
    match arguments:
        case ["--list"]:
            write_all(1, dump(catalogue()).encode() + b"\n")
            return 0
        case ["--fault", name, *rest]:
            fault = load(name)
            if fault is None:
                return complain(f"no fault is called {name}")
            Shim.name = f"boxspec-python-{name}"
            fault.install()
            sys.argv[1:] = rest
            return main()
    return complain("usage: shim.py --list | --fault ID (run REQUEST RESPONSE | serve)")


if __name__ == "__main__":
    os._exit(start(sys.argv[1:]))
