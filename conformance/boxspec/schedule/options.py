"""The options of the pytest plugin."""

from __future__ import annotations

import pytest

from boxspec.schedule.body_pool import THREADS
from boxspec.words import shard


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("boxspec", "conformance of a sandbox (boxspec)")
    add = group.addoption
    add(
        "--shim",
        dest="boxspec_shim",
        metavar="CMD",
        help="command of the shim (default: the reference)",
    )
    add(
        "--contract",
        dest="boxspec_contracts",
        action="append",
        metavar="NAME",
        help="only this contract (repeatable; default: what the shim declares)",
    )
    add(
        "--profile",
        dest="boxspec_profile",
        choices=("contract", "hardened", "all"),
        help="only requirements of this profile",
    )
    add(
        "--requirement",
        dest="boxspec_requirements",
        action="append",
        metavar="ID",
        help="only tests that decide this requirement (repeatable)",
    )
    add(
        "--topic",
        dest="boxspec_topics",
        action="append",
        metavar="TOPIC",
        help="only tests of this topic (repeatable)",
    )
    add("--spec", dest="boxspec_spec", metavar="VERSION", help="only requirements of this version")
    add(
        "--focus",
        dest="boxspec_focus",
        metavar="TOPIC",
        help="all tests of this topic, and one of each other requirement",
    )
    add(
        "--shard",
        dest="boxspec_shard",
        type=shard,
        metavar="K/N",
        help="only the K-th of N parts of the tests",
    )
    add(
        "--backend",
        dest="boxspec_backend",
        metavar="NAME",
        help="the sandbox backend to judge (default: the first of `hello` that confines)",
    )
    add("--seed", dest="boxspec_seed", type=int, default=0, help="seed for randomised tests")
    add(
        "--isolate",
        dest="boxspec_isolate",
        action="store_true",
        help="run the shim as another user who sees the kit read-only (needs root)",
    )
    add(
        "--stress",
        dest="boxspec_stress",
        action="store_true",
        help="run stress tests in their long form",
    )
    add("--repeat", dest="boxspec_repeat", type=int, metavar="N", help="run each test N times")
    add(
        "--repeat-file",
        dest="boxspec_repeat_file",
        metavar="FILE",
        help="results of --repeat; resumable",
    )
    add(
        "--fail-fast",
        dest="boxspec_fail_fast",
        action="store_true",
        help="stop at the first failure",
    )
    add("--keep", dest="boxspec_keep", action="store_true", help="keep every case folder")
    add(
        "--busy",
        dest="boxspec_busy",
        type=int,
        default=0,
        metavar="N",
        help="run N busy loops in parallel",
    )
    add(
        "--overlap",
        dest="boxspec_jobs",
        type=int,
        default=THREADS,
        metavar="N",
        help=f"run at most N long tests in parallel (default {THREADS})",
    )
