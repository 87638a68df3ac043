"""POLICY-CHECK: rules and paths of every length and depth."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from boxspec.api import requires
from contracts.policy.api import decided, offsets
from contracts.policy.client import PolicyCase

MANY = [*offsets.SHAPES, *(f"{number}/**/filler-{number}/**" for number in range(100))]


@requires("POLICY-CHECK-02")
@pytest.mark.parametrize("rules", ["alone", "among many"])
@pytest.mark.parametrize("shape", offsets.SHAPES)
def test_a_deny_holds_at_every_offset_of_a_path(case: PolicyCase, shape: str, rules: str) -> None:
    hits, misses = map(offsets.padded, offsets.SHAPES[shape])
    wanted = dict.fromkeys(hits, shape) | dict.fromkeys(misses, "**")
    decided(case, [shape] if rules == "alone" else MANY, wanted)


# Rules that all have different lengths. {} is filled up to a length, and {n} is each time a
# different name.
LONG_PATHS: dict[str, tuple[list[str], list[str]]] = {
    "{}/{n}": (["{}/{n}"], ["{}/{n}x", "{}/x{n}", "{}/{n}/k"]),
    "{}/{n}/**": (["{}/{n}", "{}/{n}/k"], ["{}/{n}x/k", "{}{n}/k"]),
    "**/{}/{n}": (["{}/{n}", "k/k/{}/{n}"], ["{}/{n}/k", "{}x/{n}"]),
    "{n}/{}/**/{n}": (["{n}/{}/{n}", "{n}/{}/k/k/{n}"], ["{n}/{}", "{n}/{}/k{n}", "{n}/{}{n}"]),
    "{}/{n}*": (["{}/{n}", "{}/{n}.k"], ["{}/{n}/k", "{}/x{n}"]),
}
LONG_NAMES: dict[str, tuple[list[str], list[str]]] = {
    "**/*{n}{}": (["{n}{}", "k/k{n}{}"], ["{n}{}k", "k/{}"]),
    "**/*-{n}-{}*": (["-{n}-{}", "k/k-{n}-{}k"], ["{n}-{}", "-{}"]),
    "{n}{}?k": (["{n}{}xk", "{n}{}😀k"], ["{n}{}/k"]),
    "*-{n}-{}?k*": (["-{n}-{}xk", "k-{n}-{}😀kk"], ["-{n}-{}k", "-{n}-{}/k"]),
}
LONG = [
    *((shape, pad) for shape in LONG_PATHS for pad in offsets.PADS),
    *((shape, pad) for shape in LONG_NAMES for pad in offsets.PADS if pad is not offsets.folders),
]


@requires("POLICY-CHECK-11")
@pytest.mark.parametrize(("shape", "pad"), LONG)
def test_of_many_rules_those_of_every_length_decide(
    case: PolicyCase, shape: str, pad: Callable[[int], str]
) -> None:
    def filled(template: str, length: int) -> str:
        return template.replace("{n}", f"n{length}n").replace("{}", pad(length))

    hits, misses = (LONG_PATHS | LONG_NAMES)[shape]
    rules, wanted = [], {}
    for length in offsets.SOME:
        rules.append(filled(shape, length))
        wanted.update(dict.fromkeys((filled(hit, length) for hit in hits), rules[-1]))
        wanted.update(dict.fromkeys((filled(miss, length) for miss in misses), "**"))
    decided(case, rules, wanted)


@requires("POLICY-CHECK-11")
def test_of_many_rules_those_of_every_depth_decide(case: PolicyCase) -> None:
    rules, wanted = [], {}
    for depth in offsets.NEAR:
        for stars, names in (("*/", "a/"), ("*/**/", "b/"), ("a/", "a/")):
            rule = f"{stars * depth}{names[0]}{depth}"
            path = f"{names * depth}{names[0]}{depth}"
            rules.append(rule)
            wanted[path] = rule
            wanted[f"{path}/k"] = "**"
    decided(case, rules, wanted)
