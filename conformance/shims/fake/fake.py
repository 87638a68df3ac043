#!/usr/bin/env python3
"""Shims that are wrong on purpose, each in one way: `fake.py NAME run REQUEST RESPONSE | serve`.

NAME is the class name in words: `AlwaysYes` is `always-yes`. With the suffix `@run` the fake is
correct in serve mode and wrong only in run mode. The shims in honest.py, literal.py and
compiling.py are correct; all others are derived from them.
"""

from __future__ import annotations

import re
import sys

import compiling
import honest
import literal
import wrong_answers
import wrong_lines
import wrong_lives
import wrong_policies
import wrong_texts

RIGHT = (honest, literal, compiling)
WRONG = (wrong_answers, wrong_lines, wrong_lives, wrong_policies, wrong_texts)


def fakes() -> dict[str, type[honest.Honest]]:
    kinds = [
        kind
        for module in (*RIGHT, *WRONG)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, honest.Honest)
    ]
    return {re.sub(r"(?<!^)(?=[A-Z])", "-", kind.__name__).lower(): kind for kind in kinds}


if __name__ == "__main__":
    name, at, _ = sys.argv[1].partition("@")
    spared = at and sys.argv[2] == "serve"
    fakes()["honest" if spared else name]().main(sys.argv[2:])
