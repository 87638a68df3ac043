"""Refuse inputs that no text could enforce: variables and side roots that permit too much."""

from __future__ import annotations

import policy.fold as folding
from sbpl.filters import plain_names
from sbpl.places import below, lies_in, refuse_controls, refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sbpl.given import Input


def refuse_controls_of_rules(given: Input) -> None:
    """Check every rule, even rules that need no clause."""
    for entry in (*given.read, *given.modify):
        refuse_controls(entry.rule.body, entry.rule.pointer)


def refuse_homes(given: Input) -> None:
    home = given.env.get("HOME", "/")
    for variable, place in given.env.items():
        if variable == "HOME":
            refuse_home(place)
        elif is_wide(place, home, given.fold):
            why = f"is `{place}`, which holds all of the home directory; name one below it"
            raise refused(f"/env/{variable}", why)


def refuse_home(place: str) -> None:
    if place == "/":
        raise refused("/env/HOME", "is `/`, and what lies there is the system's; name a user's")


def is_wide(place: str, home: str, fold: bool) -> bool:
    return lies_in(compared_form(home, fold), compared_form(place, fold))


def compared_form(path: str, fold: bool) -> str:
    return folding.fold(path) if fold else path


def refuse_side_roots(given: Input) -> None:
    """Refuse a side root that overlaps a path which may not be read.

    All of a side root is writable, so the path could be renamed.
    """
    if given.provider != "codex":
        return
    denied = list(denied_places(given))
    for i, side in enumerate(given.side_roots):
        for rule, place in denied:
            if overlap(compared_form(side, given.fold), compared_form(place, given.fold)):
                why = f"is `{side}` and meets the read deny `{rule}` at `{place}`; give another"
                raise refused(f"/side_roots/{i}", why)


def denied_places(given: Input) -> Iterator[tuple[str, str]]:
    for entry in given.read:
        names = plain_names(entry.rule.body)
        if entry.sign != "-":
            continue
        if entry.rule.body == ".":
            yield ".", given.root
        elif names:
            yield entry.rule.body, below(given.root) + "/".join(names)


def overlap(side: str, place: str) -> bool:
    return lies_in(side, place) or lies_in(place, side)
