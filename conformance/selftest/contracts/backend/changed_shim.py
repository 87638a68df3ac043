"""Run the tests of backends on the Python implementation with a change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from selftest.tools import PYTHON_IMPLEMENTATION, boxspec

SHIM = """\
#!/usr/bin/env -S python3 -I -S
import os, sys, threading
sys.path.insert(0, {folder!r})
from backend.bubblewrap import Bubblewrap
from backend.session import Session
from protocol import main

{change}
os._exit(main())
"""


def failed_run(folder: Path, change: str, *words: str, **how: Any) -> dict[str, Any]:
    """Return the result of a run with a changed shim. The run must fail. change: Python code.

    words: further arguments of `boxspec run`.
    """
    shim, result = folder / "shim", folder / "result.json"
    shim.write_text(SHIM.format(folder=str(PYTHON_IMPLEMENTATION.parent), change=change))
    shim.chmod(0o755)
    run = ["run", "--shim", str(shim), "--contract", "backend", "--profile", "all"]
    done = boxspec(*run, *words, "--json", str(result), **how)
    assert done.returncode == 1, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(result.read_text())
    return found
