"""The verbs of the core and their help.

Each verb is a module of this folder with `main(words)`. The commands of `boxspec dev` are in `dev`.
"""

from __future__ import annotations

import argparse

from boxspec.words import Parser

# The verbs for users, in the groups of `boxspec --help`.
GROUPS = {
    "judge an implementation or a sandbox": {
        "run": "judge an implementation",
        "verify": "does my sandbox keep a program in? A command, its expectations, the evidence",
        "smoke": "run only the trust checks, which decide whether a shim can be judged",
        "products": "third-party libraries and sandboxes: install, judge and compare them",
    },
    "work on a failure": {
        "repro": "rerun the tests of requirements with details, and keep their folders",
        "explain": "show one requirement or pitfall: text, source, tests",
        "list": "list requirements with their tests, pitfalls, or escape probes",
        "clean": "list or remove the folders of failed tests that runs have kept",
    },
    "work with results": {
        "report": "write a page, Markdown or other formats from earlier results",
        "diff": "compare two results: fixed, broken and changed requirements",
        "baseline": "record current failures as a baseline",
    },
    "begin": {
        "new-shim": "write a template of a shim in your language",
        "doctor": "list the features that this host has and lacks",
    },
    "search for mistakes": {
        "fuzz": "fuzz a target, and turn findings into vectors",
        "orders": "force the events of a run into many orders, and judge each",
        "explore": "run generated programs in a sandbox, and watch their effects outside",
    },
    "maintain boxspec": {"dev": "commands for maintainers: faults, weak, pages, model"},
}
VERBS = {name: about for group in GROUPS.values() for name, about in group.items()}
# The verbs of `boxspec dev`.
DEV = {
    "faults": "run the suite against each seeded fault",
    "weak": "explore sandboxes from which one rule is left out",
    "pages": "compare or write the generated parts of the documentation pages",
    "model": "check the models of the contracts exhaustively, and their mistakes",
}
# Names of verbs in earlier versions, with their new names.
RENAMED = {
    "peers": "products",
    "backends": "products",
    "matrix": "products matrix",
    **{name: f"dev {name}" for name in DEV},
}

# The help of each verb ends with these commands and their effects.
EXAMPLES = {
    "run": {
        "run --shim ./my-shim": "all contracts that the shim declares",
        "run --shim ./my-shim --contract exec -x": "stop at the first failure",
        "run --shim './my-shim --fast' --topic EXEC-KILL": "one topic",
        "run --shim ./my-shim EXEC-KILL-01 EXEC-ENV-02": "two requirements",
        "run --shim ./my-shim --json result.json --junit result.xml": "for other programs",
    },
    "verify": {
        'verify -- bwrap --ro-bind / / --bind "$PWD" "$PWD" --dev /dev': "the default rows",
        "verify --deny-read '~/.ssh' --no-network -- ./box.sh": "your own expectations",
        "verify verify.toml --json today.json --compare last-week.json": "from a file",
    },
    "list": {
        "list --topics": "the topics of each contract",
        "list --topic EXEC-TIMEOUT": "the requirements of a topic",
        "list --contract policy --json": "for other programs",
    },
    "explain": {
        "explain EXEC-ORPHAN-03": "clause, source and tests",
        "explain B5": "a pitfall: its tests and requirements",
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
        "report old.json new.json --md summary.md": "two results side by side",
        "report part-*.json --json all.json": "join the results of run --shard",
    },
    "clean": {"clean": "list the folders", "clean --force": "remove them"},
    "diff": {"diff old.json new.json": "fixed, broken and changed requirements"},
    "orders": {
        "orders --shim ./my-shim -n 500": "the shortest 500 orders",
        "orders --shim ./my-shim --order exit-term/4=TERM": "one order again, with its trace",
    },
    "explore": {
        "explore -n 100000 -j 2": "the strongest backend of the reference",
        "explore --shim ./my-shim --backend box --time 10m": "a backend of your shim",
        'explore -- bwrap --ro-bind / / --bind "$PWD" "$PWD" --unshare-all': "a command",
    },
    "products": {
        "products list": "installed and missing products",
        "products install execa": "below build/products",
        "products matrix --contract exec --md matrix.md": "each installed library",
        "products matrix bwrap none --topic BACKEND-NET": "two sandboxes, one topic",
        "products compare old.json new.json": "the cells that differ",
    },
    "dev": {"dev faults --list": "the faults, with the requirements that they break"},
    "dev faults": {
        "dev faults --only exec-cap.exactly-the-cap-is-too-much": "a single one",
        "dev faults --json faults.json": "all faults; this takes hours",
    },
    "dev model": {
        "dev model": "the states within each bound, and the law that each mistake breaks",
        "dev model --mistake LOOKS_ONCE": "the events of a counterexample",
    },
    "dev weak": {"dev weak --only call-bpf": "a single one", "dev weak": "all, for each 60 s"},
    "dev pages": {"dev pages": "show differences", "dev pages --write": "show and write them"},
    "fuzz": {
        "fuzz --list": "the targets",
        "fuzz policy_json --time 10m": "a single one",
        "fuzz shim_diff --shim ./my-shim": "compare your implementation",
    },
}


def examples(name: str) -> str:
    """Return the examples of a verb for its help."""
    rows = EXAMPLES.get(name, {})
    width = max((len(command) for command in rows), default=0)
    lines = [f"  boxspec {command:<{width}}  {does}".rstrip() for command, does in rows.items()]
    return "\n".join(["examples:", *lines]) if lines else ""


def verb_parser(
    name: str, epilog: str | None = None, about: str | None = None, usage: str | None = None
) -> Parser:
    """Return the parser of one verb.

    about: a longer description than that in the list of verbs.
    usage: the words after the verb, for a verb with many options.
    """
    return Parser(
        prog=f"boxspec {name}",
        usage=f"boxspec {name} {usage}" if usage else None,
        description=about or {**VERBS, **DEV}[name.removeprefix("dev ")],
        epilog="\n\n".join(filter(None, [epilog, examples(name)])) or None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def overview() -> str:
    """Return the verbs in groups, each with its first example."""
    lines = []
    for title, verbs in GROUPS.items():
        lines += ["", title]
        for name, about in verbs.items():
            lines += [
                f"   {name:<10} {about}",
                f"   {'':<10}   boxspec {next(iter(EXAMPLES[name]))}",
            ]
    return "\n".join(lines)
