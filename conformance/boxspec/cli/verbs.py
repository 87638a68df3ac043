"""The verbs of the core; each is a module of this folder with `main(words)`."""

from __future__ import annotations

import argparse

from boxspec.words import Parser

VERBS = {
    "run": "judge an implementation",
    "verify": "does my sandbox keep a program in? A command, its expectations, the evidence",
    "list": "the requirements and their tests, the pitfalls and theirs",
    "explain": "one requirement: clause, source, tests",
    "new-shim": "a shim to begin with, for your language",
    "smoke": "the trust checks alone: is this a shim that may be scored?",
    "doctor": "what this host has and lacks",
    "repro": "rerun the tests of requirements, verbosely, and keep their folders",
    "baseline": "write down what deviates, as known from now on",
    "report": "a page, or Markdown, of one result or of several beside each other",
    "diff": "what two results say differently: fixed, broken, changed",
    "products": "third-party libraries and sandboxes: install, judge and compare them",
    "faults": "every fault of the twin against the suite: who catches whom",
    "pages": "the parts of the pages that are made: compare them, write them",
    "fuzz": "fuzz a target, and turn what is found into vectors",
}

# Names of verbs in earlier versions.
ALIASES = {"peers": "products"}

# Shown at the end of the help of each verb: a command, and its effect.
EXAMPLES = {
    "run": {
        "run --shim ./my-shim": "all that it declares",
        "run --shim ./my-shim --contract exec -x": "up to the first failure",
        "run --shim './my-shim --fast' --topic EXEC-KILL": "a part of it",
        "run --shim ./my-shim --json result.json --junit result.xml": "for other programs",
    },
    "verify": {
        "verify -- bwrap --ro-bind / / --bind . . --dev /dev --unshare-net": "the default rows",
        "verify --deny-read '~/.ssh' --no-network -- ./box.sh": "your own expectations",
        "verify verify.toml --json today.json --compare last-week.json": "from a file",
    },
    "list": {
        "list --topics": "the topics of each contract",
        "list --topic EXEC-TIMEOUT": "the requirements of one",
        "list --contract policy --json": "for other programs",
    },
    "explain": {
        "explain EXEC-ORPHAN-03": "clause, source and tests",
        "explain B5": "a pitfall: its tests, and what they decide",
    },
    "new-shim": {"new-shim go my-shim": "a folder my-shim with a shim in Go"},
    "smoke": {"smoke --shim ./my-shim": "", "smoke --shim 'python3 shim.py'": ""},
    "doctor": {"doctor": ""},
    "repro": {
        "repro --shim ./my-shim EXEC-ORPHAN-03 EXEC-KILL-01": "their tests, folders kept",
        "repro --shim ./my-shim --bisect EXEC-KILL-01": "for git bisect run",
    },
    "baseline": {
        "baseline --shim ./my-shim --write known.toml": "then: run --known known.toml --strict"
    },
    "report": {
        "report result.json --html report.html": "one page that needs no network",
        "report old.json new.json --md summary.md": "two beside each other",
    },
    "diff": {"diff old.json new.json": "what is fixed, broken and changed"},
    "products": {
        "products list": "what is installed, and what is missing",
        "products install execa": "below build/products",
        "products matrix --contract exec --md matrix.md": "each library that is installed",
        "products matrix bwrap none --topic BACKEND-NET": "two sandboxes, one topic",
        "products compare old.json new.json": "the cells that differ",
    },
    "faults": {
        "faults --only exec-cap.exactly-the-cap-is-too-much": "one of them",
        "faults --json faults.json": "the whole matrix; that takes hours",
    },
    "pages": {"pages": "what differs", "pages --write": "take it"},
    "fuzz": {
        "fuzz --list": "the targets",
        "fuzz policy_json --time 10m": "one of them",
        "fuzz shim_diff --shim ./my-shim": "your implementation beside the twin",
    },
}


def examples(name: str) -> str:
    """Return the examples of a verb for its help."""
    rows = EXAMPLES.get(name, {})
    width = max((len(command) for command in rows), default=0)
    lines = [f"  boxspec {command:<{width}}  {does}".rstrip() for command, does in rows.items()]
    return "\n".join(["examples:", *lines]) if lines else ""


def verb_parser(name: str, epilog: str | None = None, about: str | None = None) -> Parser:
    """Return the parser of one verb. about: a longer description than the list of verbs has."""
    return Parser(
        prog=f"boxspec {name}",
        description=about or VERBS[name],
        epilog="\n\n".join(filter(None, [epilog, examples(name)])) or None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
