"""Collect facts about this machine that can affect a verdict."""

from __future__ import annotations

import os
import platform
from typing import Any


def host() -> dict[str, Any]:
    return {
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "cpus": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "root": os.geteuid() == 0,
    }
