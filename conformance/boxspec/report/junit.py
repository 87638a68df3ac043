"""JUnit XML out of the result tree: a suite per contract and profile, a case per test."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from boxspec.judge.block import failure_block
from boxspec.judge.record import Record
from boxspec.judge.requirements import load
from boxspec.judge.results import Tree
from boxspec.judge.verdict import BROKEN, Verdict
from boxspec.printable import one_line

# Characters that XML 1.0 cannot hold, not even escaped, and those that act on a terminal.
_UNWRITABLE = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _clean(text: str) -> str:
    return _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _suite_of(record: Record) -> str:
    first = load()[record.requirements[0]]
    return f"{first.contract}.{first.profile}"


def _case(record: Record, shim: str | None) -> ET.Element:
    path, _, name = record.id.partition("::")
    case = ET.Element(
        "testcase",
        classname=_clean(path.removesuffix(".py").replace("/", ".")),
        name=_clean(f"{name} [{' '.join(record.requirements)}]"),
        time=f"{record.seconds:.3f}",
    )
    if record.verdict in BROKEN:
        kind = "failure"
    elif record.verdict is Verdict.HARNESS_ERROR:
        kind = "error"
    elif record.verdict is Verdict.CONFORMS:
        return case
    else:
        kind = "skipped"
    attributes = {"message": one_line(f"{record.verdict}: {record.reason}"[:500])}
    if kind != "skipped":
        attributes["type"] = str(record.verdict)
    told = ET.SubElement(case, kind, attributes)
    if kind != "skipped":
        told.text = _clean(failure_block(record, shim))
    return case


def render(tree: Tree) -> str:
    suites: dict[str, list[ET.Element]] = {}
    for record in tree.records:
        suites.setdefault(_suite_of(record), []).append(_case(record, tree.shim))
    root = ET.Element("testsuites", name=f"boxspec {one_line(tree.name)}")
    for name, cases in suites.items():
        suite = ET.SubElement(root, "testsuite", name=name)
        suite.extend(cases)
        _counts(suite, cases)
    _counts(root, [case for cases in suites.values() for case in cases])
    root.set("time", f"{tree.duration_s:.3f}")
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _counts(element: ET.Element, cases: list[ET.Element]) -> None:
    element.set("tests", str(len(cases)))
    for attribute, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(attribute, str(sum(case.find(kind) is not None for case in cases)))
    element.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")
