#!/usr/bin/env -S python3 -I -S
"""The twin with one mistake: shim.py --fault ID run REQUEST RESPONSE. --list shows all as JSON."""

import importlib
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "python"), HERE]

from protocol import Shim, complain, dump, main, write_all
from registry import FAULTS


def load(name):
    """Only the topic that is asked for: a fault should start as fast as the twin."""
    topic = name.split(".")[0].replace("-", "_")
    for stem in stems():
        if stem == topic or stem.startswith(f"{topic}_"):
            importlib.import_module(f"topics.{stem}")
    return FAULTS.get(name)


def stems():
    names = sorted(os.listdir(os.path.join(HERE, "topics")))
    return [name[:-3] for name in names if name.endswith(".py")]


def catalogue():
    for stem in stems():
        importlib.import_module(f"topics.{stem}")
    return [fault.as_json() for fault in FAULTS.values()]


def start(arguments):
    match arguments:
        case ["--list"]:
            write_all(1, dump(catalogue()).encode() + b"\n")
            return 0
        case ["--fault", name, *rest]:
            fault = load(name)
            if fault is None:
                return complain(f"no fault is called {name}")
            Shim.name = f"boxspec-twin-{name}"
            fault.install()
            sys.argv[1:] = rest
            return main()
    return complain("usage: shim.py --list | --fault ID (run REQUEST RESPONSE | serve)")


if __name__ == "__main__":
    os._exit(start(sys.argv[1:]))
