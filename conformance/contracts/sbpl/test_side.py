"""SBPL-SIDE: side roots, which are additional writable directories for Codex."""

from __future__ import annotations

import pytest

from boxspec.api import requires
from contracts.sbpl import kit as sbpl
from contracts.sbpl.client import SbplCase
from contracts.sbpl.kit import Setup

SIDES = ["/Users/u/side", "/Users/u/ws/out"]
CODEX = Setup(modify=["src/**"], side_roots=SIDES, provider="codex")


@requires("SBPL-SIDE-01")
def test_a_side_root_is_writable_with_all_below(case: SbplCase) -> None:
    text = case.sbpl.compiled(CODEX)
    yes = [place + below for place in SIDES for below in ("", "/x", "/x/y")]
    text.expect("decisions about side roots", sbpl.both(yes, ["x", "/Users/u/x"]))


@requires("SBPL-SIDE-01")
def test_a_side_root_is_writable_where_the_policy_denies_it(case: SbplCase) -> None:
    denies = ["state/**", "a/b/**", "**/*.pem"]
    sides = ["/Users/u/ws/state", "/Users/u/ws/a/b/c"]
    text = case.sbpl.compiled(
        CODEX.but(modify=["**", "!a/**"], deny_modify=denies, side_roots=sides)
    )
    yes = ["state", "state/x", "state/x.pem", "a/b/c", "a/b/c/x", "x"]
    text.expect(
        "decisions about side roots below denied paths",
        sbpl.both(yes, ["a", "a/b", "a/b/x", "x.pem"]),
    )


@requires("SBPL-SIDE-01")
def test_the_whole_disk_may_be_a_side_root(case: SbplCase) -> None:
    yes = ["x", "src/x", "/Users/u/x", "/x", "/x/y"]
    text = case.sbpl.compiled(CODEX.but(side_roots=["/"]))
    text.expect("decisions about the side root /", sbpl.both(yes, []))
    without = case.sbpl.compiled(CODEX.but(side_roots=[]))
    without.expect("decisions without a side root", sbpl.both(["src/x"], ["x", *yes[2:]]))


@requires("SBPL-SIDE-02")
@pytest.mark.parametrize("provider", [None, "claude", "gemini"])
def test_for_other_providers_side_roots_allow_no_access(
    case: SbplCase, provider: str | None
) -> None:
    text = case.sbpl.compiled(CODEX.but(provider=provider))
    text.expect(
        f"decisions about side roots with the provider {provider}",
        sbpl.both(["src/x"], [*SIDES, f"{SIDES[0]}/x"]),
    )
    codex = case.sbpl.compiled(CODEX)
    codex.expect("decisions about side roots with the provider codex", sbpl.both(SIDES, ["x"]))


@requires("SBPL-SIDE-02")
@pytest.mark.parametrize("provider", [None, "claude", "gemini"])
def test_for_other_providers_side_roots_may_meet_a_read_denied_rule(
    case: SbplCase, provider: str | None
) -> None:
    """Such a side root has no clause, so no denied path can be renamed through it."""
    given = CODEX.but(deny_read=["out/k", "k"], side_roots=["/Users/u/ws/out", "/Users/u/ws/k"])
    text = case.sbpl.compiled(given.but(provider=provider))
    text.expect("decisions about writing", sbpl.both(["src/x"], ["out/x", "k"]))
    text.expect("decisions about reading", sbpl.both(["out/x"], ["out/k", "k"]), sbpl.READ)


@requires("SBPL-SIDE-03")
def test_a_side_root_allows_no_path_outside_itself(case: SbplCase) -> None:
    text = case.sbpl.compiled(CODEX.but(side_roots=["/Users/u/ws/a/b", "/opt/side"]))
    no = ["a", "a/bc", "a/x", "a/bc/x", "/opt", "/opt/side2", "/opt/side2/x", "/opt/sid"]
    text.expect(
        "decisions outside the side root",
        sbpl.both(["a/b", "a/b/x", "/opt/side/x"], no),
        sbpl.WRITES,
    )


@requires("SBPL-SIDE-03")
def test_a_side_root_makes_no_path_readable(case: SbplCase) -> None:
    text = case.sbpl.compiled(CODEX.but(deny_read=["**/*.env", "k"]))
    text.expect(
        "decisions about reading", sbpl.both(["out/x", "x"], ["out/x.env", "k"]), sbpl.READS
    )
    text.expect("decisions about writing", sbpl.both(["out/x"], ["x"]))


# A side root below the root /Users/u/ws, and a deny of reading whose place overlaps the side root.
OVERLAPS = {
    "is the place of a literal": ("k", "k"),
    "is the place of a subtree": ("k", "k/**"),
    "holds a literal": ("a", "a/k"),
    "holds a subtree": ("a", "a/b/**"),
    "lies below a subtree": ("k/x", "k/**"),
    "lies below a literal": ("k/x", "k"),
    "is the leading part of a glob": ("a", "a/*.env"),
    "lies below the leading part of a glob": ("a/b", "a/**/k"),
    "holds the leading part of a glob": ("a", "a/b/*.env"),
    "lies below what stands in front of a question mark": ("k/xay", "k/x?y/z*"),
    "lies below what stands in front of a star": ("k/za", "k/z*/x?y"),
    "is the root": (".", "k/**"),
    "lies below the root that may not be read": ("a", "."),
    "is the root that may not be read": (".", "."),
}


@requires("SBPL-SIDE-04")
@pytest.mark.parametrize("own", [True, False], ids=["own rule", "global deny"])
@pytest.mark.parametrize("name", OVERLAPS)
def test_a_side_root_that_meets_a_read_denied_rule_is_refused(
    case: SbplCase, name: str, own: bool
) -> None:
    where, rule = OVERLAPS[name]
    side = "/Users/u/ws" if where == "." else f"/Users/u/ws/{where}"
    given = Setup(read=["**", f"!{rule}"]) if own else Setup(deny_read=[rule])
    bad = given.but(side_roots=[side], provider="codex")
    answer = case.sbpl.compile(bad)
    sbpl.refused(f"a side root that {name}", answer, side)
    sbpl.refuses(case, f"a side root that {name}", bad, bad.but(side_roots=["/opt/side"]), rule)


@requires("SBPL-SIDE-04")
@pytest.mark.parametrize("place", [0, 1, 2])
def test_each_side_root_is_compared_with_each_rule(case: SbplCase, place: int) -> None:
    sides = [f"/opt/{number}" for number in range(3)]
    for rule in ("a/k", "b/k/**"):
        given = Setup(deny_read=["a/k", "b/k/**"], side_roots=sides, provider="codex")
        meets = [*sides[:place], f"/Users/u/ws/{rule[0]}", *sides[place + 1 :]]
        bad = given.but(side_roots=meets)
        sbpl.refuses(case, f"side root {place} above the rule {rule}", bad, given, rule)


@requires("SBPL-SIDE-04")
def test_a_read_denied_rule_counts_even_if_a_later_rule_allows_it(case: SbplCase) -> None:
    bad = Setup(read=["**", "!k/**", "k/**"], side_roots=["/Users/u/ws/k"], provider="codex")
    sbpl.refuses(case, "a side root", bad, bad.but(side_roots=["/opt/side"]), "k/**")


# A root, a side root in or above it with another spelling, and a rule.
FOLDED = {
    "the rule's": ("/Users/u/ws", "/Users/u/ws/SECRET/x", "secret/**"),
    "the root's": ("/Users/u/WS", "/Users/u/ws/secret", "secret/**"),
    "the side root's": ("/Users/u/ws", "/USERS/U/WS/a/k", "a/k"),
    "the place above": ("/Users/u/ws", "/users/u/Ws/A", "a/k"),
    "a decomposed": ("/Users/u/ws", "/Users/u/ws/Se\u0301cret/x", "s\u00e9cret/**"),
    "a composed": ("/Users/u/ws", "/Users/u/ws/S\u00c9cret", "se\u0301cret/k"),
    "a long s in the": ("/Users/u/ws", "/Users/u/ws/\u017fecret", "secret/**"),
    "a final sigma in the": ("/Users/u/ws", "/Users/u/ws/\u03c2/x", "\u03a3"),
    "a Kelvin sign in the": ("/Users/u/ws", "/Users/u/ws/\u212a", "k/**"),
    "the root's decomposed": ("/Users/e\u0301", "/Users/\u00c9/a/k", "a/k"),
}


@requires("SBPL-SIDE-04", capability="sbpl.fold")
@pytest.mark.parametrize("name", FOLDED)
def test_a_side_root_is_compared_with_rules_in_every_spelling(case: SbplCase, name: str) -> None:
    root, side, rule = FOLDED[name]
    bad = Setup(root=root, deny_read=[rule], side_roots=[side], provider="codex", case="fold")
    sbpl.refuses(case, f"a side root in {name} spelling", bad, bad.but(side_roots=["/opt/side"]))


@requires("SBPL-SIDE-04")
@pytest.mark.parametrize(
    ("root", "side", "rule"),
    [
        ("/", "/k", "k/**"),
        ("/", "/a", "a/k"),
        ("/", "/", "k"),
        ("/Users/u/ws", "/", "k"),
        ("/Users/u/ws", "/", "."),
        ("/Users/u/ws", "/Users/u/ws//k", "k/**"),
        ("/Users/u/ws", "/Users/u//ws/k/", "k"),
        ("/Users/u//ws/", "/Users/u/ws/a/", "a/k"),
    ],
)
def test_a_side_root_is_compared_with_rules_by_whole_names(
    case: SbplCase, root: str, side: str, rule: str
) -> None:
    """Compare side roots with rules, for several roots.

    Among the roots are `/`, which ends in a slash, and paths with doubled slashes.
    """
    bad = Setup(root=root, deny_read=[rule], side_roots=[side], provider="codex")
    sbpl.refuses(case, f"the side root {side} with {rule} in {root}", bad, bad.but(deny_read=[]))


@requires("SBPL-SIDE-04")
def test_a_side_root_next_to_a_read_denied_rule_is_accepted(case: SbplCase) -> None:
    for where, rule in (("kx", "k/**"), ("k", "k2"), ("a/c", "a/b/*"), ("a", "**/*.env")):
        side = f"/Users/u/ws/{where}"
        text = case.sbpl.compiled(Setup(deny_read=[rule], side_roots=[side], provider="codex"))
        text.expect(
            f"decisions about a side root next to the rule {rule}", sbpl.both([f"{where}/x"], ["x"])
        )
    above = Setup(deny_read=["k"], side_roots=["/opt"], provider="codex")
    case.sbpl.compiled(above).expect("decisions elsewhere", sbpl.both(["/opt/x"], ["k"]))


@requires("SBPL-SIDE-01")
@pytest.mark.parametrize("place", ["/private/tmp", "/dev", "/private/var/folders/x", "/opt/codex"])
def test_a_side_root_is_writable_in_a_root_below_scratch(case: SbplCase, place: str) -> None:
    sides = [f"{place}/ws/out", f"{place}/ws/out/below", f"{place}/ws/a/b"]
    env = {"CODEX_HOME": "/opt/codex"}
    given = CODEX.but(root=f"{place}/ws", side_roots=sides, deny_modify=["out/**"], env=env)
    text = case.sbpl.compiled(given)
    yes = ["out", "out/x", "out/below/x", "a/b", "a/b/c", "src/x", f"{place}/x"]
    text.expect("decisions about writing", sbpl.both(yes, ["x", "a", "a/x", "outer"]))
