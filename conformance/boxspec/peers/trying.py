"""What a peer was seen to do without the kit, shown again.

`tries` of a peer.yaml is a program that uses the library alone. Its word {tried} stands for the
requirements under `tried`; for each it prints a line: its id, `seen`, `not seen` or `not tried`, a
colon, and what.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from boxspec.errors import UsageError
from boxspec.peers.declared import Peer
from boxspec.peers.installing import Failed, called, state

# All of one peer; most take a second, and some wait for what does not come.
WITHIN_S = 600


@dataclass(frozen=True)
class Shown:
    """seen: whether the library fails there as its page says. line: what the program said."""

    requirement: str
    seen: bool
    line: str


def shown(peer: Peer) -> Iterator[Shown]:
    """A line for each requirement of `tried`; UsageError for a peer that cannot be tried here."""
    names = peer.tried()
    if not names:
        raise UsageError(
            peer.word, "nothing of it was tried", "`tried` in its peer.yaml names that"
        )
    why = state(peer).why
    if why:
        raise UsageError(peer.word, f"cannot be tried here: {why}", "mend that first")
    try:
        said = called(_words(peer, names), WITHIN_S)
    except Failed as broken:
        raise UsageError(peer.word, str(broken), "mend `tries` of its peer.yaml") from None
    lines = {line.partition(" ")[0]: line for line in said.splitlines()}
    for name in names:
        line = lines.get(name, f"{name} not tried: no line of it")
        yield Shown(name, line.startswith(f"{name} seen: "), line)


def _words(peer: Peer, names: list[str]) -> list[str]:
    found: list[str] = []
    for word in peer.argv(peer.tries):
        found.extend(names if word == "{tried}" else [word])
    return found
