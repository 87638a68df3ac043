"""The options of the pytest plugin."""

from __future__ import annotations

import pytest

from boxspec.schedule.overlap import THREADS


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("boxspec", "conformance of a sandbox (boxspec)")
    add = group.addoption
    add("--shim", dest="boxspec_shim", metavar="CMD", help="the shim (default: the reference)")
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
    add("--spec", dest="boxspec_spec", metavar="VERSION", help="only what that version asks")
    add(
        "--focus",
        dest="boxspec_focus",
        metavar="TOPIC",
        help="all tests of this topic, and one of each other requirement",
    )
    add(
        "--backend",
        dest="boxspec_backend",
        metavar="NAME",
        help="the backend that is judged (default: the first that hello names and that confines)",
    )
    add("--seed", dest="boxspec_seed", type=int, default=0, help="decides what is varied")
    add(
        "--isolate",
        dest="boxspec_isolate",
        action="store_true",
        help="as root: the shim is another user and sees the kit read-only",
    )
    add("--stress", dest="boxspec_stress", action="store_true", help="long forms of stress tests")
    add("--repeat", dest="boxspec_repeat", type=int, metavar="N", help="run each test N times")
    add("--repeat-file", dest="boxspec_repeat_file", metavar="FILE", help="results, resumable")
    add(
        "--fail-fast",
        dest="boxspec_fail_fast",
        action="store_true",
        help="end with the first failure",
    )
    add("--keep", dest="boxspec_keep", action="store_true", help="keep every case folder")
    add("--busy", dest="boxspec_busy", type=int, default=0, metavar="N", help="N busy loops beside")
    add(
        "--overlap",
        dest="boxspec_jobs",
        type=int,
        default=THREADS,
        metavar="N",
        help=f"at most N long tests at once (default {THREADS})",
    )
