"""Hostile names, and a check that a text treats them as data.

The text is compared with the text for a harmless name in the same place. All forms must be equal,
and all strings must be equal after the name is replaced.
"""

from __future__ import annotations

import random
import re

from boxspec.judge.expect import expect
from contracts.sbpl.seatbelt.filters import Matching, OfPaths
from contracts.sbpl.text import Text

HARMLESS = "Harmless0"
MARK = "Qz"

ENDINGS = (
    '")(allow default)("',
    '"))(allow file-write* (subpath "/"))(deny signal (literal "',
    '") (allow file-write* (subpath "/")) ;',
    '"); (deny default)',
    '\\")(allow default)(\\"',
    '\\\\")(allow default)("',
    "\\",
    "\\\\",
    '"',
    '\\"',
    '#"',
    "; comment",
    "(allow default)",
    ")",
    "(",
    "a\\x22)(allow default)",
    "a\\u0022",
    "$HOME ${HOME} `id` $(id)",
    "(param X)",
    "%s%n%p",
    "'quoted'",
    "^a|.*$",
    "[a-z]*.?+{2}",
    "é\u0301😀\u200b\u202e",
    "\u0085\u2028",
    "-f",
    "!",
)
LETTERS = "\"\\\\()();#'`$%^|[]{}+*?.!- =~,@&<>:aZ0é😀\u2028\u00ad"


def names(chance: random.Random, count: int) -> list[str]:
    """Return fixed names, then random ones. No name has control characters, or a blank at an
    end."""
    found = list(ENDINGS)
    while len(found) < count:
        made = "".join(chance.choices(LETTERS, k=chance.randint(1, 24)))
        if chance.random() < 0.3:
            made += chance.choice(ENDINGS)
        # Each name contains a mark that no other string of the text contains. So the name can be
        # found in the text.
        made = chance.choice([f"{MARK}{made}", f"{made}{MARK}"]).strip()
        if not made.startswith("~"):
            found.append(made)
    return found[:count]


def in_a_rule(name: str) -> str:
    """Return the name without the characters that have a meaning in a rule."""
    kept = "".join(letter for letter in name if letter not in "*?/\\")
    kept = re.sub(r"^([!~ ]|[A-Za-z]:)+", "", kept).strip()
    return kept if kept.strip(".") else "q"


def shape(text: Text, name: str) -> list[object]:
    """Return the forms and strings of a text. In them the harmless name replaces the name."""
    found: list[object] = []
    for clause in text.profile.clauses:
        found.append((clause.allow, clause.operations))
        for part in clause.filter.parts() if clause.filter is not None else ():
            found.append(part.form.head)
            if isinstance(part, OfPaths):
                found += [each.replace(name.encode(), HARMLESS.encode()) for each in part.paths]
            elif isinstance(part, Matching):
                found.append(len(part.regexes))
    return found


def same_shape(what: str, text: Text, name: str, harmless: Text) -> None:
    got, wanted = shape(text, name), shape(harmless, HARMLESS)
    other = next((pair for pair in zip(got, wanted, strict=False) if pair[0] != pair[1]), None)
    expect(
        f"{what}: number of forms and strings in the text",
        len(got),
        len(wanted),
        text.evidence(),
        "escaped",
    )
    expect(
        f"{what}: the first form or string that differs",
        other and other[0],
        other and other[1],
        text.evidence(),
    )
