"""SBPL-MAC: compiled texts with the real sandbox-exec."""

from __future__ import annotations

from boxspec.api import HostLacks, expect, requires
from contracts.sbpl import mac
from contracts.sbpl.client import SbplCase


@requires("SBPL-MAC-01")
def test_a_mac_decides_as_the_evaluator_does(case: SbplCase) -> None:
    why = mac.absent()
    if why is not None:
        raise HostLacks("sandbox-exec", why)
    expect("decisions that differ on a Mac", mac.judged(case), [])
