"""The verbs of the core: each is a file of this folder with `main(words)`."""

from __future__ import annotations

import argparse

from boxspec.words import Parser

VERBS = {
    "run": "judge an implementation",
    "list": "the requirements and their tests, the pitfalls and theirs",
    "explain": "one requirement: clause, source, tests",
    "new-shim": "a shim to begin with, for your language",
    "smoke": "the trust checks alone: is this a shim that may be scored?",
    "doctor": "what this host has and lacks",
    "repro": "rerun the tests of requirements, verbosely, and keep their folders",
    "baseline": "write down what deviates, as known from now on",
    "report": "a page, or Markdown, of one result or of several beside each other",
    "diff": "what two results say differently: fixed, broken, changed",
    "faults": "every fault of the twin against the suite: who catches whom",
    "pages": "the parts of the pages that are made: compare them, write them",
    "fuzz": "fuzz a target, and turn what is found into vectors",
}


def verb_parser(name: str, epilog: str | None = None, about: str | None = None) -> Parser:
    """The parser of one verb; `about` where --help says more than the list of verbs."""
    return Parser(
        prog=f"boxspec {name}",
        description=about or VERBS[name],
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
