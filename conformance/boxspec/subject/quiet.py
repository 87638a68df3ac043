"""Check that the environment of the caller makes no program print, and changes no clock."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

from boxspec.errors import UsageError

# Variables that the loader or the C library reads in each program.
OF_EACH_PROGRAM = ("LD_", "GLIBC_", "MALLOC_")
TRUE = "/bin/true"


def need_quiet_programs(env: Mapping[str, str]) -> None:
    """Raise UsageError if `true`, which has no output of its own, prints with these variables.

    Such output would look like the output of a shim, or of a program that the shim has started.
    """
    said = _output(env)
    if not said:
        return
    names = [name for name in env if name.startswith(OF_EACH_PROGRAM)]
    for name in names:
        if not _output({each: value for each, value in env.items() if each != name}):
            raise UsageError(name, f"each program prints {said!r}", f"unset {name}")
    raise UsageError(TRUE, f"prints {said!r}", f"unset {' '.join(names) or 'LD_PRELOAD'}")


def need_true_clock(env: Mapping[str, str]) -> None:
    """Raise UsageError if a library changes the clock that the kit and the shim read."""
    libraries = env.get("LD_PRELOAD", "")
    if "libfaketime" in libraries:
        why = "libfaketime changes the clock, so no time limit can be judged"
        raise UsageError("LD_PRELOAD", why, "unset LD_PRELOAD, or run without faketime")


def _output(env: Mapping[str, str]) -> str:
    """Return the first line that `true` prints, or an empty text."""
    try:
        done = subprocess.run(
            [TRUE], env=dict(env), capture_output=True, stdin=subprocess.DEVNULL, check=False
        )
    except OSError:
        # This host has no such program.
        return ""
    lines = (done.stdout + done.stderr).decode(errors="replace").splitlines()
    return lines[0] if lines else ""
