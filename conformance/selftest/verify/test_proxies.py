"""Tests that the row about proxies finds the mistakes of proxies that sandboxes run."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from boxspec.verify.proxies import addresses_of_this_machine
from selftest.verify.wrappers import HELD, LEAKED, NOT_TESTED, verify, without_bubblewrap

pytestmark = pytest.mark.turns(6)

ROWS = ("--row", "proxies", "--row", "outside")
# For each mistake of the proxy, a part of the evidence.
MISTAKES = {
    "only-names": "to 127.0.0.1, as an address",
    "only-socks-5": "by SOCKS 4",
    "header": "Host example.org",
    "exact-names": "to LOCALHOST",
    "only-ipv4": "to [::1]",
    "before-the-at": "to example.org@127.0.0.1",
}
needs_root_and_ip = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("ip"), reason="a new network needs root and ip"
)
needs_bubblewrap = pytest.mark.skipif(bool(without_bubblewrap()), reason=without_bubblewrap())


def _command(mistake: str, place: str = "usual") -> list[str | Path]:
    return [sys.executable, Path(__file__).with_name("proxy.py"), mistake, place]


@needs_bubblewrap
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_of_a_proxy_leaks(tmp_path: Path, mistake: str) -> None:
    found = verify(tmp_path, *ROWS, "--", *_command(mistake))
    assert found.statuses == {"proxies": LEAKED, "outside": HELD}
    assert any(MISTAKES[mistake] in each for each in found.rows["proxies"]["evidence"])


@needs_bubblewrap
def test_a_proxy_that_refuses_each_address_of_this_machine_is_held(tmp_path: Path) -> None:
    found = verify(tmp_path, *ROWS, "--", *_command("none"))
    assert found.statuses == {"proxies": HELD, "outside": HELD}, found.done.stdout


@needs_bubblewrap
@pytest.mark.parametrize(
    "place",
    [
        "without-scheme",
        "second-variable",
        "with-password",
        "unix-socket",
        "name-of-hosts",
        pytest.param("own-address", marks=needs_root_and_ip),
        pytest.param("gateway", marks=needs_root_and_ip),
    ],
)
def test_each_proxy_of_this_machine_is_tried(tmp_path: Path, place: str) -> None:
    found = verify(tmp_path, *ROWS, "--", *_command("all", place))
    assert found.statuses["proxies"] == LEAKED, found.done.stdout


@needs_bubblewrap
@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("elsewhere", "the proxy 198.51.100.1 of the environment is not known to run on"),
        ("unknown-name", "the proxy proxy.invalid of the environment is not known to run"),
        ("tls", "the proxy 127.0.0.1 of the environment needs TLS"),
    ],
)
def test_a_proxy_that_cannot_be_tried_is_named(tmp_path: Path, place: str, why: str) -> None:
    found = verify(tmp_path, *ROWS, "--", *_command("none", place))
    assert found.statuses["proxies"] == NOT_TESTED
    assert why in found.rows["proxies"]["evidence"][0]


@needs_bubblewrap
def test_a_proxy_of_the_caller_on_another_machine_is_ignored(tmp_path: Path) -> None:
    env = {"HTTPS_PROXY": "http://198.51.100.1:3128"}
    found = verify(tmp_path, *ROWS, "--", *_command("none"), env=env)
    assert found.statuses["proxies"] == HELD, found.done.stdout


def test_the_addresses_of_this_machine_are_known() -> None:
    assert "127.0.0.1" in addresses_of_this_machine()


@pytest.mark.parametrize("name", ["proxies", "remains"])
def test_a_single_row_without_a_sandbox_is_not_tested(tmp_path: Path, name: str) -> None:
    found = verify(tmp_path, "--row", name, "--", "env")
    assert found.statuses == {name: NOT_TESTED}
