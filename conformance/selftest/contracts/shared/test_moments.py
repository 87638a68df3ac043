"""Tests on a busy machine: a process that waits for a processor is not mistaken for a busy loop."""

from __future__ import annotations

import subprocess
import sys

import pytest

from boxspec.judge.verdict import Late
from contracts.shared.moments import late_without_busy_loop


def test_a_process_that_sleeps_had_to_wait() -> None:
    with subprocess.Popen(["sleep", "60"]) as idle:
        try:
            late_without_busy_loop(idle.pid, wanted=200, looked=600, share=0.5)
            with pytest.raises(Late, match="700 ms of 600 ms"):
                late_without_busy_loop(idle.pid, wanted=700, looked=600, share=0.5)
        finally:
            idle.kill()


def test_a_process_that_never_sleeps_loops() -> None:
    loop = "import os\nos.write(1, b'.')\nwhile True:\n    pass"
    with subprocess.Popen([sys.executable, "-c", loop], stdout=subprocess.PIPE) as busy:
        assert busy.stdout is not None
        try:
            assert busy.stdout.read(1) == b"."
            late_without_busy_loop(busy.pid, wanted=700, looked=600, share=0.5)
        finally:
            busy.kill()
