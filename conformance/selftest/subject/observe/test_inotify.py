"""Tests of inotify where the user has reached a limit of the kernel."""

from __future__ import annotations

import ctypes
import errno
from types import SimpleNamespace

import pytest

from boxspec.judge.verdict import NotMeasured
from boxspec.subject.observe import inotify


def test_a_reached_limit_is_not_measured_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> int:
        ctypes.set_errno(errno.EMFILE)
        return -1

    monkeypatch.setattr(inotify, "_libc", SimpleNamespace(inotify_init1=fails))
    with pytest.raises(NotMeasured, match="max_user_instances"):
        inotify.Inotify()
