"""Tests that signals to a shim that has already ended cause no error in the kit."""

from __future__ import annotations

import signal
import subprocess
from types import SimpleNamespace
from typing import Any, cast

from contracts.exec.caller_signals import signal_each_thread


def test_a_shim_that_is_gone_has_no_thread_to_signal() -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
        sent: list[int] = []
        live = SimpleNamespace(shim_pid=gone.pid, signal=sent.append)
        signal_each_thread(cast(Any, live), signal.SIGTERM)
    assert sent == []
