"""The options of a run. The pytest plugin has all of them; `boxspec run` has the options in
SHARED."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from boxspec.schedule.body_pool import THREADS
from boxspec.words import count, natural, shard

# Import pytest only for type checks: the command line prints help texts without it.
if TYPE_CHECKING:
    import pytest

PROFILES = ("contract", "hardened", "all")
# The arguments of add_argument, by option.
SHARED: dict[str, dict[str, Any]] = {
    "--backend": {
        "metavar": "NAME",
        "help": "the sandbox backend to judge (default: the strongest one that starts here)",
    },
    "--isolate": {
        "action": "store_true",
        "help": "run the shim as another user who sees the kit read-only (needs root)",
    },
    "--topic": {
        "action": "append",
        "metavar": "TOPIC",
        "help": "only tests of this topic (repeatable)",
    },
    "--spec": {
        "metavar": "VERSION",
        "help": "only requirements of this version, e.g. 1.0 (default: all)",
    },
    "--focus": {
        "metavar": "TOPIC",
        "help": "all tests of this topic, and one of each other requirement",
    },
    "--shard": {
        "type": shard,
        "metavar": "K/N",
        "help": "only the K-th of N parts of the tests; `boxspec report` joins the N results",
    },
    "--seed": {
        "type": natural,
        "default": 0,
        "metavar": "N",
        "help": "seed for randomised tests",
    },
    "--stress": {
        "action": "store_true",
        "help": "run stress tests with thousands of rounds and 1 GiB (with -m stress only these)",
    },
    "--repeat": {
        "type": count,
        "metavar": "N",
        "help": "run each test N times and print failure rates",
    },
    "--repeat-file": {
        "metavar": "FILE",
        "help": "append results of --repeat as JSON lines; resumes from them",
    },
    "--busy": {
        "type": natural,
        "default": 0,
        "metavar": "N",
        "help": "run N busy loops in parallel, as load",
    },
}
# `boxspec run` has other forms of these options: `boxspec run ID`, -x, -j.
_PLUGIN: dict[str, dict[str, Any]] = {
    "--shim": {"metavar": "CMD", "help": "command of the shim (default: the reference)"},
    "--contract": {
        "dest": "boxspec_contracts",
        "action": "append",
        "metavar": "NAME",
        "help": "only this contract (repeatable; default: each that the shim declares)",
    },
    "--profile": {"choices": PROFILES, "help": "only requirements of this profile"},
    "--requirement": {
        "dest": "boxspec_requirements",
        "action": "append",
        "metavar": "ID",
        "help": "only tests that decide this requirement (repeatable)",
    },
    "--fail-fast": {"action": "store_true", "help": "stop at the first failure"},
    "--keep": {"action": "store_true", "help": "keep every case folder"},
    "--overlap": {
        "dest": "boxspec_jobs",
        "type": count,
        "default": THREADS,
        "metavar": "N",
        "help": f"run at most N long tests in parallel (default {THREADS})",
    },
}


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("boxspec", "conformance of a sandbox (boxspec)")
    for flag, how in {**SHARED, **_PLUGIN}.items():
        group.addoption(flag, **{"dest": f"boxspec_{flag[2:].replace('-', '_')}", **how})
