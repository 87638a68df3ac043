"""Write one HTML page of results that works offline: matrices, failures, timings, faults.

The template escapes text from a shim, or the text is in a JSON block that the page's script shows
as text. The page loads no other file, and runs no other script.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from boxspec.errors import UsageError
from boxspec.judge.results import why_not
from boxspec.printable import one_line
from boxspec.report import history
from boxspec.report.formats.evidence import Evidence
from boxspec.report.formats.matrix import Matrix, Run, runs_of
from boxspec.report.output_file import OutputFile, replace_file
from boxspec.report.result import Result

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).with_name("templates")

# A sign for each verdict, for readers who cannot distinguish colours. Screen readers read the word
# of the verdict.
SIGNS = {
    "conforms": "✓",
    "fails": "✗",
    "escaped": "⇥",
    "contradiction": "≠",
    "overrefused": "⊘",
    "wrong-reason": "≁",
    "unproven": "?",
    "harness-error": "!",
    "not-measured": "–",
    "not-applicable": "·",
    "not asked": "",
}


# Up to this number of runs, the top of the page has a bar for each contract.
FEW = 3
# How many broken requirements of a run the top of the page names: with few runs, and with more.
MOST_BROKEN, LEAST_BROKEN = 12, 3


@dataclass
class Given:
    """The content of a page.

    earlier: older results, to find out since when a requirement is broken.
    """

    results: list[Result]
    earlier: list[Result] = field(default_factory=list)
    backends: list[Result] = field(default_factory=list)
    peers: list[Result] = field(default_factory=list)
    faults: Mapping[str, Any] | None = None


def write(file: OutputFile, given: Given) -> None:
    """Write the page, and long evidence to files in the folder `data/` next to it."""
    text, more = render(given)
    folder = file.path.parent / "data"
    try:
        for name, content in more.items():
            folder.mkdir(exist_ok=True)
            replace_file(folder / name, content)
    except OSError as why:
        place, problem = f"{file.flag} {file.path}", f"{folder}: {why.strerror}"
        raise UsageError(place, problem, "use another folder for the page") from None
    file.write(text)


def render(given: Given) -> tuple[str, dict[str, str]]:
    """Return the page, and the files of its data folder by name."""
    groups = {
        "requirements": given.results,
        "backends": given.backends,
        "peers": given.peers,
    }
    runs = runs_of(groups)
    evidence = Evidence.of({run.slug: run.result for run in runs})
    matrices = [Matrix(group, mine) for group in groups if (mine := _mine(runs, group))]
    script = (TEMPLATES / "page.js").read_text(encoding="utf-8")
    text = (
        _environment()
        .get_template("page.html")
        .render(
            runs=runs,
            matrices=matrices,
            faults=given.faults,
            signs=SIGNS,
            shown=sum((Counter(each.verdicts()) for each in matrices), Counter()),
            few=FEW,
            most_broken=MOST_BROKEN if len(runs) <= FEW else LEAST_BROKEN,
            contracts=list(dict.fromkeys(name for each in matrices for name in each.contracts())),
            data=_block(_data(runs, evidence, given)),
            script=Markup(script),
            script_hash=_hash(script),
        )
    )
    return text, evidence.files


@cache
def _environment() -> Environment:
    # The import is here because it is slow, and few runs write a page.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["why_not"] = why_not
    made.filters["code"] = code
    return made


def code(text: str) -> Markup:
    """Return a text of a requirement as HTML: parts in backticks become elements `code`."""
    parts = re.split(r"(`+)(.+?)\1(?!`)", text)
    # The parts repeat in threes: text, backticks, code. The backticks are left out.
    return Markup("").join(
        Markup("<code>{}</code>").format(part.strip()) if place % 3 == 2 else escape(part)
        for place, part in enumerate(parts)
        if place % 3 != 1
    )


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _block(data: object) -> Markup:
    """Return JSON without characters that could end its HTML element."""
    text = json.dumps(data, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def _mine(runs: list[Run], group: str) -> list[Run]:
    return [run for run in runs if run.group == group]


def _data(runs: list[Run], evidence: Evidence, given: Given) -> dict[str, object]:
    """Return the data that the page's script needs and the tables do not contain.

    Tests are numbered, which keeps the page small.
    """
    tests: dict[str, int] = {}
    asks: dict[str, list[str]] = {}
    for run in runs:
        for name, test in run.result.tests.items():
            tests.setdefault(name, len(tests))
            asks.setdefault(name, list(test["requirements"]))
    caught: dict[str, list[list[object]]] = {}
    for each in given.faults["faults"] if given.faults else ():
        for name in each["caught_by"]:
            caught.setdefault(name, []).append([each["id"], each["mistake"]])
    return {
        "tests": list(tests),
        "asks": [asks[name] for name in tests],
        "requirements": {
            name: [
                *(each[what] for what in ("level", "profile", "clause", "source")),
                each.get("links", {}),
            ]
            for run in runs
            for name, each in run.result.requirements.items()
        },
        "runs": [
            _run(run, tests, evidence, history.before(run.result, given.earlier)) for run in runs
        ],
        "caught": caught,
        "signs": SIGNS,
    }


def _run(
    run: Run, tests: Mapping[str, int], evidence: Evidence, past: list[Result]
) -> dict[str, object]:
    result = run.result
    return {
        "slug": run.slug,
        "name": run.label,
        "short": run.short,
        "group": run.group,
        "requirements": {
            name: [
                one_line(each["reason"]),
                history.since(name, result, past),
                [tests[test] for test in each["tests"] if test in result.tests],
            ]
            for name, each in result.requirements.items()
        },
        "tests": {
            tests[name]: [each["verdict"], each["seconds"], each["shim_seconds"]]
            for name, each in result.tests.items()
        },
        "bounds": {
            tests[name]: [
                [each[part] for part in ("what", "limit_ms", "spare_ms", "took_ms", "waited_ms")]
                for each in test["timing"][-3:]
            ]
            for name, test in result.tests.items()
            if test["timing"]
        },
        "reasons": {
            tests[name]: one_line(each["reason"][:500])
            for name, each in result.tests.items()
            if each["reason"] and each["verdict"] != "conforms"
        },
        "repro": {
            tests[name]: each["repro"]
            for name, each in result.tests.items()
            if each["verdict"] not in ("conforms", "not-applicable")
        },
        "blocks": {tests[name]: block for name, block in evidence.blocks[run.slug].items()},
    }
