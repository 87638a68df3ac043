"""Find the Python implementation, which was written from the contracts alone.

It shares no code with other implementations. If the kit needs the right answer to a question, it
asks this implementation and never the one under test.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from boxspec.errors import HarnessError
from boxspec.places import ROOT

PYTHON_IMPLEMENTATION = ROOT / "conformance" / "shims" / "python" / "shim.py"
ANSWER_S = 60

Fields = dict[str, Any]


def python_implementation_command() -> list[str]:
    # The path of the interpreter itself is used: with a version manager `python3` is a slow script.
    return [str(Path(sys.executable).resolve()), "-I", "-S", str(PYTHON_IMPLEMENTATION)]


def ask_python_implementation(case: Mapping[str, Any]) -> Fields:
    message = {"id": "1", "op": case["op"], **case["request"]}
    done = subprocess.run(
        [*python_implementation_command(), "serve"],
        input=json.dumps(message) + "\n",
        capture_output=True,
        text=True,
        timeout=ANSWER_S,
    )
    try:
        answer: Fields = json.loads(done.stdout.splitlines()[0])
    except (IndexError, ValueError):
        reason = done.stderr.strip()[-200:]
        raise HarnessError(f"the Python implementation has no answer: {reason}") from None
    return answer
