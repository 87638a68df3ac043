"""Connections to listeners outside, under a profile without a network."""

import pytest

from boxspec.api import requires
from contracts.backend.attempt import attempt
from contracts.backend.client import BackendCase

PLAIN = ("n_tcp4", "n_tcp6", "n_v4mapped", "n_udp", "n_udp_sendto", "n_udp6")
ODD = ("n_mptcp", "n_tfo", "n_raw", "n_io_uring_connect", "n_udp_wide", "n_int80")


@requires("BACKEND-NET-01")
@pytest.mark.parametrize("probe", PLAIN)
def test_no_listener_is_reached(case: BackendCase, probe: str) -> None:
    attempt(case, probe, profile="no-network")


@requires("BACKEND-NET-02")
@pytest.mark.parametrize("probe", ODD)
def test_no_other_way_reaches_a_listener(case: BackendCase, probe: str) -> None:
    attempt(case, probe, profile="no-network")
