"""Find the meaning of a setup from the policy oracle and the page, and never from the text.

None means that the contract allows two answers, so the path is not tested. This is so if a deny
without wildcards may also cover paths below it, or if `?` meets a character other than printable
ASCII.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from boxspec.subject.client.b64 import raw
from contracts.sbpl.client import Setup
from contracts.shared import globs as oracle

SCRATCH = ("/private/tmp", "/private/var/folders", "/dev")
SCRATCH_AT_HOME = ("Library/Caches", ".orbit")
STATE = ((".codex", "CODEX_HOME"), (".claude", "CLAUDE_CONFIG_DIR"), (".gemini", None))


def within(place: str, path: str) -> bool:
    return path == place or path.startswith(place.rstrip("/") + "/")


def wild(name: str) -> bool:
    return "*" in name or "?" in name


def plain(body: str) -> bool:
    """True for a rule that names one path."""
    return not wild(body)


def literal_segments(body: str) -> list[str]:
    """Return the leading segments of a rule, up to the first one with a wildcard."""
    found = []
    for name in body.split("/"):
        if wild(name):
            break
        found.append(name)
    return [] if found == [oracle.ROOT] else found


def ancestors(body: str) -> list[str]:
    """Return the directories above the paths of a rule, as far as the rule names them.

    They are below the root.
    """
    names = literal_segments(body)
    if names and plain(body):
        names = names[:-1]
    return ["/".join(names[:count]) for count in range(1, len(names) + 1)]


def _wider(rules: Sequence[str]) -> list[str]:
    """Return the rules. Each plain deny also covers the paths below it, which the contract
    allows."""
    found = []
    for rule in rules:
        body = rule.removeprefix("!")
        found.append(rule)
        if rule.startswith("!") and plain(body) and body != oracle.ROOT:
            found.append(f"!{body}/**")
    return found


def _wider_denies(denies: Sequence[str]) -> list[str]:
    found = []
    for deny in denies:
        body = deny.removeprefix("!")
        if plain(body) and body != oracle.ROOT:
            found.append(f"{body}/**")
        found.append(deny)
    return found


class Meaning:
    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.root = raw(setup.root).decode()
        self.env = {name: raw(value).decode() for name, value in setup.env.items() if value}
        fold: Callable[[str], str] = oracle.fold if setup.case == "fold" else str
        self.fold = fold
        self.read = [fold(rule) for rule in setup.read]
        self.read += [f"!{fold(rule)}" for rule in setup.deny_read]
        self.modify = [fold(rule) for rule in setup.modify]
        self.denies = [fold(rule) for rule in setup.deny_modify]
        self.asks = any("?" in rule for rule in (*self.read, *self.modify, *self.denies))
        # There are two versions of the lists: with the denies as they are written, and with denies
        # that cover as much as the contract allows.
        self.lists = (
            (self.modify, self.denies, self.read),
            (_wider(self.modify), _wider_denies(self.denies), _wider(self.read)),
        )

    def relative(self, path: str) -> str | None:
        """Return the path relative to the root, or None if it is outside. If names fold, it is
        folded."""
        if not within(self.root, path):
            return None
        return self.fold(path[len(self.root.rstrip("/")) + 1 :]) or oracle.ROOT

    def places(self) -> list[str]:
        """Return the writable directories, without the root and side roots."""
        home = self.env.get("HOME")
        found = list(SCRATCH)
        if home is not None:
            found += [f"{home}/{name}" for name in SCRATCH_AT_HOME]
        for name, variable in STATE:
            if variable is not None and variable in self.env:
                found.append(self.env[variable])
            elif home is not None:
                found.append(f"{home}/{name}")
        return found

    def _either(self, path: str, decide: Callable[[int], bool]) -> bool | None:
        if self.asks and not (path.isascii() and path.isprintable()):
            return None
        first, second = decide(0), decide(1)
        return first if first is second else None

    def may_modify(self, path: str) -> bool | None:
        """Return the decision about all kinds of writing except unlink."""
        sides = self.setup.side_roots if self.setup.provider == "codex" else ()
        if any(within(raw(side).decode(), path) for side in sides):
            return True
        relative = self.relative(path)
        if relative is None:
            return any(within(place, path) for place in self.places())

        def decide(wide: int) -> bool:
            modify, denies, _ = self.lists[wide]
            return oracle.decide(modify, denies, relative).allowed

        return self._either(path, decide)

    def may_read(self, path: str) -> bool | None:
        relative = self.relative(path)
        if relative is None:
            return True

        def decide(wide: int) -> bool:
            last = oracle.last(self.lists[wide][2], relative)
            return last is None or not last.startswith("!")

        return self._either(path, decide)

    def may_unlink(self, path: str) -> bool | None:
        modified = self.may_modify(path)
        relative = self.relative(path)
        if not modified or relative is None:
            return modified

        def decide(wide: int) -> bool:
            bodies = [rule[1:] for rule in self.lists[wide][2] if rule.startswith("!")]
            return not any(
                oracle.matches(body, relative) or relative in ancestors(body) for body in bodies
            )

        return self._either(path, decide)
