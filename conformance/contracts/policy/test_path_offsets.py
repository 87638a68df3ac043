"""POLICY-PATH: each spelling at every offset of a path."""

from __future__ import annotations

import pytest

from boxspec.api import requires
from contracts.policy.api import expect_normal_forms, offsets
from contracts.policy.client import PolicyCase


def cases(*spellings: bytes) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("spelling", spellings, ids=ascii)


def compare(case: PolicyCase, spelling: bytes) -> None:
    expect_normal_forms(case, list(offsets.holding(spelling)))


@requires("POLICY-PATH-01")
@cases(b"/./k", b"//k", b"/k/", b"/.")
def test_segments_are_dropped_at_every_offset(case: PolicyCase, spelling: bytes) -> None:
    compare(case, spelling)


@requires("POLICY-PATH-03")
@cases(b"/..", b"/../k", b"/..k", b"k../k", b"/...")
def test_two_dots_are_found_at_every_offset(case: PolicyCase, spelling: bytes) -> None:
    compare(case, spelling)


@requires("POLICY-PATH-04")
@cases(b"\\", b" ", b"/ ", b"\t")
def test_no_character_is_replaced_at_any_offset(case: PolicyCase, spelling: bytes) -> None:
    compare(case, spelling)


@requires("POLICY-PATH-05")
@cases(
    *(b"\0", b"\n", b"\xff", b"\x80", b"\xc3", b"\xc0\xaf", b"\xe0\x80\xaf", b"\xed\xa0\x80"),
    *(b"\xf4\x90\x80\x80", "é".encode(), "€".encode(), "😀".encode()),
)
def test_bytes_that_are_not_utf_8_are_found_at_every_offset(
    case: PolicyCase, spelling: bytes
) -> None:
    compare(case, spelling)
