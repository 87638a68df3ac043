"""Write an in-toto statement about a result, for programs that sign and check evidence.

The format follows the specifications "in-toto Attestation Framework: Statement v1" and "Predicate
type: Test Result v0.1". The statement is not signed; use a tool of your choice.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from boxspec.judge.verdict import BROKEN
from boxspec.report import json as json_report
from boxspec.report.result import Result

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"
# The name of the subject of the statement. The subject is the file that `--json` writes, byte for
# byte.
SUBJECT = "result.json"
RESULTS = {0: "PASSED", 1: "FAILED", 2: "FAILED", 3: "WARNED", 4: "WARNED"}


def render(result: Result) -> str:
    """Return the statement. Each requirement is a test; known deviations are warnings."""
    content = json_report.render(result.plain).encode()
    verdicts: dict[str, list[str]] = {"passedTests": [], "warnedTests": [], "failedTests": []}
    for name, each in result.requirements.items():
        if each["verdict"] == "conforms":
            verdicts["passedTests"].append(name)
        elif each["verdict"] in BROKEN:
            verdicts["warnedTests" if each["known"] else "failedTests"].append(name)
    statement = {
        "_type": STATEMENT,
        "subject": [{"name": SUBJECT, "digest": {"sha256": hashlib.sha256(content).hexdigest()}}],
        "predicateType": PREDICATE,
        "predicate": {
            "result": RESULTS.get(result.status, "FAILED"),
            "configuration": [_kit(result)],
            **verdicts,
        },
    }
    return json.dumps(statement, indent=2) + "\n"


def _kit(result: Result) -> dict[str, Any]:
    """Return the kit as a resource, with its commit if it ran from a checkout."""
    kit = result.plain["kit"]
    made: dict[str, Any] = {
        "name": "boxspec",
        "uri": f"pkg:pypi/boxspec@{kit['version']}",
        "annotations": {"spec": result.plain["spec_version"]},
    }
    if kit["commit"]:
        made["digest"] = {"gitCommit": kit["commit"]}
    return made
