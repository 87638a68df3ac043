"""The oracle: the meaning of globs, paths, rules and lists, written from the contract.

It is written as plainly as possible, shares no code with an implementation, and is not fast. A glob
is matched part by part. After each part, the oracle computes the set of positions in the path that
can be reached.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

ROOT = "."
DRIVE = re.compile(r"[A-Za-z]:")
BLANKS = " \t"

# The kinds of wildcards in a glob.
DIRS, ANY, STAR, NAME, ONE = "**/", "**", "*", "a whole segment *", "?"
# The characters of a glob that stand for themselves, up to the next wildcard.
_LITERAL = re.compile(r"[^*?]+")


# Paths and rules ----------------------------------------------------------------------------


def _outside(text: str) -> bool:
    """True if the path is outside the workspace: it is absolute, or begins with `~` or a drive."""
    return text.startswith(("/", "~/")) or text == "~" or DRIVE.match(text) is not None


def _joined(text: str) -> str | None:
    """Remove `.` and empty segments. Return None if there is a segment `..`."""
    segments = [part for part in text.split("/") if part not in ("", ".")]
    return None if ".." in segments else "/".join(segments)


def normal_path(data: bytes) -> str | None:
    """Return the normal form of a path, or None if it is refused."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if text == "" or "\0" in text or "\\" in text:
        return None
    normal = _joined(text)
    if normal is None:
        return None
    for spelling in (text, normal):
        if _outside(spelling) or spelling.strip(BLANKS) != spelling:
            return None
    return normal or ROOT


def normal_body(text: str) -> str | None:
    """Return the normal form of a rule without its `!`, or None if it is refused."""
    text = text.strip(BLANKS).replace("\\", "/")
    normal = _joined(text)
    if text == "" or normal is None or _outside(text) or _outside(normal):
        return None
    return re.sub(r"\*{3,}", "**", normal) or ROOT


def normal_rule(text: str) -> str | None:
    """Return a rule as policy.resolve writes it, or None if it is refused."""
    text = text.strip(BLANKS)
    negated = text.startswith("!")
    rest = text[negated:].strip(BLANKS)
    body = None if rest.startswith("!") else normal_body(rest)
    if body is None:
        return None
    shown = f"./{body}" if body.startswith("!") else body
    return ("!" if negated else "") + shown


# Globs --------------------------------------------------------------------------------------


@cache
def parts(glob: str) -> tuple[list[str], bool]:
    """Return the parts of a normalised glob, and whether the glob also matches all paths below.

    A part is a wildcard, or a literal text between wildcards.
    """
    below = False
    while glob.endswith("/**"):
        glob, below = glob[:-3], True
    if glob == ROOT:
        return [], below
    found: list[str] = []
    at = 0
    while at < len(glob):
        begins = at == 0 or glob[at - 1] == "/"
        if begins and glob.startswith("**/", at):
            found.append(DIRS)
            at += 3
        elif glob.startswith("**", at):
            found.append(ANY)
            at += 2
        elif glob[at] == "*":
            whole = begins and (at + 1 == len(glob) or glob[at + 1] == "/")
            found.append(NAME if whole else STAR)
            at += 1
        elif glob[at] == "?":
            found.append(ONE)
            at += 1
        else:
            literal = _LITERAL.match(glob, at)
            assert literal is not None
            found.append(literal[0])
            at = literal.end()
    return found, below


def _run(path: str, start: int) -> int:
    """Return the end of the segment that contains `start`."""
    end = path.find("/", start)
    return len(path) if end < 0 else end


def _step(part: str, path: str, at: int) -> set[int]:
    """Return the positions at which this part can end if it begins at `at`."""
    if part == ANY:
        return set(range(at, len(path) + 1))
    if part == DIRS:
        return {at} | {i + 1 for i in range(at, len(path)) if path[i] == "/"}
    if part in (STAR, NAME):
        return set(range(at + (part == NAME), _run(path, at) + 1))
    if part == ONE:
        return {at + 1} if at < len(path) and path[at] != "/" else set()
    return {at + len(part)} if path.startswith(part, at) else set()


def matches(glob: str, path: str) -> bool:
    """True if a glob matches a path, both in their normal form."""
    path = "" if path == ROOT else path
    found, below = parts(glob)
    positions = {0}
    for part in found:
        if not positions:
            return False
        positions = set().union(*(_step(part, path, at) for at in positions))
    if below:
        return any(at == len(path) or path[at] == "/" for at in positions)
    return len(path) in positions


# Case ---------------------------------------------------------------------------------------


def folded(character: str) -> str:
    """Fold a character by CaseFolding.txt, statuses C and S.

    If Python's full folding is longer than one character, status S gives the lower case.
    """
    full = character.casefold()
    if len(full) == 1:
        return full
    lower = character.lower()
    return lower if len(lower) == 1 else character


def fold(text: str) -> str:
    """Return the form in which `case: fold` compares paths and globs."""
    composed = unicodedata.normalize("NFC", text)
    return unicodedata.normalize("NFC", "".join(map(folded, composed)))


# Lists --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Decision:
    allowed: bool
    matched_rule: str


def last(rules: Sequence[str], path: str) -> str | None:
    """Return the last rule that matches, including its `!`."""
    return next((rule for rule in reversed(rules) if matches(rule.removeprefix("!"), path)), None)


def decide(profile: Sequence[str], denies: Sequence[str], path: str) -> Decision:
    """Decide by rules in normal form. In the list of denies, `!P` is an exception."""
    rule, denied = last(profile, path), last(denies, path)
    if denied is not None and not denied.startswith("!"):
        return Decision(False, denied)
    if rule is None:
        positive = any(not each.startswith("!") for each in profile)
        return Decision(False, "<no matching rule>" if positive else "[]")
    return Decision(not rule.startswith("!"), rule.removeprefix("!"))
