"""Write a result as JUnit XML: a suite for each contract and profile, and a case for each test.

The time of a case is the time in which its shim ran. The duration of the whole run is `seconds` in
the result file.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from boxspec.printable import one_line
from boxspec.report.result import Plain, Result, block_of, is_error, is_failure

# Matches characters that XML 1.0 cannot contain, even escaped, and control characters for
# terminals.
_UNWRITABLE = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _clean(text: str) -> str:
    return _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _case(result: Result, test: Plain) -> ET.Element:
    path, _, name = test["id"].partition("::")
    case = ET.Element(
        "testcase",
        classname=_clean(path.removesuffix(".py").replace("/", ".")),
        name=_clean(f"{name} [{' '.join(test['requirements'])}]"),
        file=_clean(path),
        line=str(max(1, test["line"])),
        time=f"{test['shim_seconds']:.3f}",
    )
    if is_failure(test):
        kind = "failure"
    elif is_error(test):
        kind = "error"
    elif test["verdict"] == "conforms":
        return case
    else:
        kind = "skipped"
    attributes = {"message": one_line(f"{test['verdict']}: {test['reason']}"[:500])}
    if kind != "skipped":
        attributes["type"] = test["verdict"]
    element = ET.SubElement(case, kind, attributes)
    if kind != "skipped":
        element.text = _clean("\n".join(block_of(result, test)))
    return case


def _properties(result: Result, name: str) -> ET.Element:
    """Return the facts of the run, the total fractions, and the fractions of this suite's
    contract."""
    contract, _, profile = name.partition(".")
    every = result.facts()
    every["outcome"] = f"{result.words}, exit status {result.status}"
    every["all"] = result.denominators()
    counts = result.plain["summary"]["contracts"].get(contract)
    for level, of in (counts[profile] if counts else {}).items():
        every[f"{contract} {profile} {level.upper()}"] = f"{of['conforms']}/{of['of']}"
    properties = ET.Element("properties")
    for key, value in every.items():
        ET.SubElement(properties, "property", name=key, value=_clean(value))
    return properties


def render(result: Result) -> str:
    suites: dict[str, list[ET.Element]] = {}
    for test in result.plain["tests"]:
        suites.setdefault(result.suite_of(test), []).append(_case(result, test))
    root = ET.Element("testsuites", name=_clean(f"boxspec {result.name}"))
    host = result.plain["host"]
    for number, (name, cases) in enumerate(suites.items()):
        suite = ET.SubElement(root, "testsuite", name=name, id=str(number), package="boxspec")
        suite.set("timestamp", result.started)
        suite.set("hostname", one_line(f"{host['system']} {host['release']} {host['machine']}"))
        suite.append(_properties(result, name))
        suite.extend(cases)
        _counts(suite, cases)
    _counts(root, [case for cases in suites.values() for case in cases])
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _counts(element: ET.Element, cases: list[ET.Element]) -> None:
    element.set("tests", str(len(cases)))
    for attribute, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(attribute, str(sum(case.find(kind) is not None for case in cases)))
    element.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")
