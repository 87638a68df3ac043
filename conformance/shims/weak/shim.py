#!/usr/bin/env -S python3 -I -S
"""The Python implementation without one rule of its sandboxes, to measure `boxspec explore`:
shim.py --without RULE run REQUEST RESPONSE.

--list prints the rules, each with the backend that it belongs to.
"""

from __future__ import annotations

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "python"), os.path.dirname(HERE)]

from files import write_all
from protocol import Shim, complain, main
from weak.rules import RULES


def start(arguments: list[str]) -> int:
    match arguments:
        case ["--list"]:
            lines = [f"{name} {backend}\n" for name, (backend, _) in RULES.items()]
            write_all(1, "".join(lines).encode())
            return 0
        case ["--without", name, *rest] if name in RULES:
            Shim.name = f"without-{name}"
            RULES[name][1]()
            sys.argv[1:] = rest
            return main()
    return complain("usage: shim.py --list | --without RULE (run REQUEST RESPONSE | serve)")


if __name__ == "__main__":
    os._exit(start(sys.argv[1:]))
