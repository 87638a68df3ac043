"""Tests that the row about proxies finds the mistakes of proxies that sandboxes run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from selftest.verify.wrappers import HELD, LEAKED, NOT_TESTED, verify, without_bubblewrap

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
needs_bubblewrap = pytest.mark.skipif(bool(without_bubblewrap()), reason=without_bubblewrap())


def _command(mistake: str) -> list[str | Path]:
    return [sys.executable, Path(__file__).with_name("proxy.py"), mistake]


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


@pytest.mark.parametrize("name", ["proxies", "remains"])
def test_a_row_is_not_held_alone_by_no_sandbox(tmp_path: Path, name: str) -> None:
    found = verify(tmp_path, "--row", name, "--", "env")
    assert found.statuses == {name: NOT_TESTED}
