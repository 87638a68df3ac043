"""Tests of the listeners outside of a sandbox."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from boxspec.subject.observe.listeners import Listeners


class WithoutIpv6(socket.socket):
    """A socket of a host without an IPv6 address on loopback, as in many containers."""

    def bind(self, address: object) -> None:
        if self.family == socket.AF_INET6:
            raise OSError(99, "Cannot assign requested address")
        super().bind(address)  # type: ignore[arg-type]


def test_a_host_without_ipv6_has_no_hits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socket", WithoutIpv6)
    with Listeners(tmp_path, "t-without-ipv6") as listeners:
        assert listeners.hits() == []
        assert listeners.params["tcp6"] == listeners.params["udp6"] == 1


def test_each_listener_reports_its_own_hit(tmp_path: Path) -> None:
    # The path itself may be too long for the address of a socket.
    short = f"/proc/self/fd/{os.open(tmp_path, os.O_PATH)}"
    with Listeners(tmp_path, "t-own-hit") as listeners:
        assert listeners.hits() == []
        places: dict[str, tuple[str, object] | str] = {
            "tcp4": ("127.0.0.1", listeners.params["tcp4"]),
            "udp4": ("127.0.0.1", listeners.params["udp4"]),
            "abstract": "\0t-own-hit",
            "abstract_dgram": "\0dgram-t-own-hit",
            "socket": f"{short}/socket",
            "socket-dgram": f"{short}/socket-dgram",
        }
        for name, address in places.items():
            family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
            is_datagram = "udp" in name or "dgram" in name
            kind = socket.SOCK_DGRAM if is_datagram else socket.SOCK_STREAM
            with socket.socket(family, kind) as ours:
                ours.connect(address)
                if is_datagram:
                    ours.send(b"x")
            assert listeners.hits() == [f"{name}: reached"]
