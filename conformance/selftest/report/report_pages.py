"""Make pages for the self-tests of the report: a small hostile one, and one of ten
implementations."""

from __future__ import annotations

from pathlib import Path

from boxspec.judge.verdict import Failure, NotMeasured
from boxspec.report.formats import html
from boxspec.report.output_file import OutputFile
from selftest.report.made_results import HOSTILE, made
from selftest.trees import HARDENED, MUST, OTHER_MUST

NAMES = [
    "ref",
    "python",
    "subprocess",
    "child_process",
    "execa",
    "os/exec",
    "std::process",
    "timeout",
]
NAMES += ["bubblewrap", "an implementation with a name that is far too long for any column"]
ESCAPES = "BACKEND-WRITE-01"
LONG = "evidence " * 5000
FAULTS = {
    "schema": "boxspec-faults/1",
    "scope": "own",
    "faults": [
        {
            "id": "exec-env.a-mistake",
            "contract": "exec",
            "requirement": MUST,
            "role": "fault",
            "mistake": f"a mistake {HOSTILE}",
            "caught": True,
            "caught_by": [MUST, OTHER_MUST],
            "problem": "",
        }
    ],
    "summary": {"faults": 1, "caught": 1, "by_named_requirement": 1},
}


def small() -> html.Given:
    """Two implementations, one of them hostile; a backend, a product, faults, and an earlier
    result."""
    name = f"hostile {HOSTILE}"
    evil = Failure("the output", "a", HOSTILE, {"log": [HOSTILE], "long": LONG})
    blamed = {MUST: evil, HARDENED: NotMeasured(HOSTILE), OTHER_MUST: Failure("it", "a", "b")}
    return html.Given(
        [made(name, only="exec", blamed=blamed), made("good", only="exec", blamed={})],
        [made(name, only="exec", blamed={}, started="2026-10-01T10:00:00Z")],
        [
            made("none", only="backend", blamed={ESCAPES: evil}, control=True),
            made("good", only="backend", blamed={}, backend="landlock"),
        ],
        [made("peer", only="exec", blamed={MUST: evil})],
        FAULTS,
    )


def ten() -> html.Given:
    return html.Given([made(name, f"1.{seed}", seed=seed) for seed, name in enumerate(NAMES)])


def written(folder: Path, given: html.Given) -> Path:
    path = folder / "report.html"
    html.write(OutputFile("--html", str(path)), given)
    return path
