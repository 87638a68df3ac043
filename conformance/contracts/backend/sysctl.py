"""A setting of the whole system that an attempt tries to change. It is restored afterwards."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from boxspec.places import case_root

# How many messages of one source the kernel logs before it drops further ones. There is only one
# value for all namespaces, so a write would affect the whole host.
SETTING = Path("/proc/sys/kernel/printk_ratelimit_burst")


class Sysctl:
    """The setting; `effects` compares it with its value at the start."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        # Only one run of the kit at a time may use the setting. Another run would see the attempt
        # as its own.
        lock = os.open(case_root() / "sysctl.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._stack.callback(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            self._before = SETTING.read_text().strip()
        except OSError:
            self._before = ""
        attempted = str(int(self._before) + 1) if self._before.isdigit() else "0"
        self.params: dict[str, object] = {"sysctl": SETTING, "sysctl_value": attempted}

    def effects(self) -> list[str]:
        if not self._before or SETTING.read_text().strip() == self._before:
            return []
        return [f"{SETTING}: changed for the whole system"]

    def close(self) -> None:
        with contextlib.suppress(OSError):
            if self.effects():
                SETTING.write_text(self._before)
        self._stack.close()

    def __enter__(self) -> Sysctl:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
