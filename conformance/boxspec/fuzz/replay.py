"""Run one input through a target, for its report, its decoded case, or a smaller input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from boxspec.errors import HarnessError
from boxspec.fuzz import crash_report
from boxspec.fuzz.crash_report import Report
from boxspec.fuzz.engine import INPUT_S, MEMORY_MB, SHIM_INPUT_S

# The limit is long enough for a shim that hangs, and for the work of a sanitizer at the end.
LIMIT_S = 6 * INPUT_S


def run_input(
    binary: Path, path: Path, env: Mapping[str, str], *, quick: bool = False
) -> Report | None:
    """Run an input in libFuzzer's build and return its report.

    quick: True to leave out stack traces, which take a quarter of a second. A report of an oracle
        does not need them.
    """
    limit_s = SHIM_INPUT_S if "BOXSPEC_FUZZ_SHIM" in env else INPUT_S
    argv = [str(binary), f"-timeout={limit_s}", f"-rss_limit_mb={MEMORY_MB}"]
    argv += ["-handle_abrt=0"] if quick else []
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            [*argv, str(path)],
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=out,
            process_group=0,
        )
        try:
            process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            return Report("hang", f"still running after {LIMIT_S} s")
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if process.returncode == 0:
            return None
        out.seek(0)
        output = out.read().decode("utf-8", "replace")
    return crash_report.read(output) or Report(
        f"status {process.returncode}", output.strip()[-200:]
    )


def cases(decoder: Path, path: Path) -> list[dict[str, Any]]:
    """Return the requests of an input. The replay driver decodes them, and runs no oracle."""
    done = subprocess.run(
        [decoder, "--json", path], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise HarnessError(f"{decoder} --json {path}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def minimise(
    data: bytes, same: Callable[[bytes], bool], plain: bytes, go_on: Callable[[], bool]
) -> bytes:
    """Remove pieces of an input as long as the finding remains, then replace bytes by `plain`.

    If `go_on` returns False, return the smallest input so far.
    """
    size = max(len(data) // 2, 1)
    while data:
        at, shorter = 0, False
        while at < len(data) and go_on():
            left = data[:at] + data[at + size :]
            if same(left):
                data, shorter = left, True
            else:
                at += size
        if not go_on() or (size == 1 and not shorter):
            break
        size = max(size // 2, 1)
    for at in range(len(data)):
        simpler = data[:at] + plain + data[at + 1 :]
        if simpler != data and go_on() and same(simpler):
            data = simpler
    return data
