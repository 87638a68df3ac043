"""Write a result in the format TAP 14, with one test point for each test.

TODO marks failures that the baseline accepts, SKIP marks undecided tests.
"""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from boxspec.printable import one_line
from boxspec.report.result import Plain, Result, block_of, is_error, is_failure


def _escaped(text: str) -> str:
    return one_line(text).replace("\\", "\\\\").replace("#", "\\#")


def _point(number: int, result: Result, test: Plain) -> Iterator[str]:
    broken = is_failure(test) or is_error(test)
    head = _escaped(f"{test['id']} {' '.join(test['requirements'])}")
    directive = ""
    if broken and result.is_known(test):
        directive = f" # TODO known: {_escaped(test['reason'])}"
    elif not broken and test["verdict"] != "conforms":
        directive = f" # SKIP {test['verdict']}: {_escaped(test['reason'])}"
    yield f"{'not ok' if broken else 'ok'} {number} - {head}{directive}"
    facts = {"duration_ms": round(test["shim_seconds"] * 1000, 1)}
    if broken:
        facts |= {
            "verdict": test["verdict"],
            "expected": one_line(test["expected"]),
            "got": one_line(test["got"]),
            "block": block_of(result, test),
        }
    yield "  ---"
    # Each value is on one line, because some readers process single lines.
    for line in yaml.safe_dump(facts, sort_keys=False, width=2**30).splitlines():
        yield f"  {line}"
    yield "  ..."


def render(result: Result) -> str:
    tests = result.plain["tests"]
    lines = ["TAP version 14", f"1..{len(tests)}"]
    lines += [f"# {name}: {value}" for name, value in result.facts().items()]
    lines.append(f"# {result.denominators()}")
    for number, test in enumerate(tests, 1):
        lines += _point(number, result, test)
    lines.append(f"# {result.words}, exit status {result.status}")
    return "\n".join(lines) + "\n"
