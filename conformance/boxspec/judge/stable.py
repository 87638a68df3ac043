"""Remove from a reason everything that changes from run to run, so that a baseline can match it."""

from __future__ import annotations

import re

from boxspec.printable import one_line

_CHANGES = (
    # A path, for example of a case, a checkout or a home directory.
    (re.compile(r"(?<![\w.~/])(?:/[^\s/'\"`(),:;\[\]{}]+)+/?"), "PATH"),
    # A time in RFC 3339 format.
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)?"), "TIME"),
    # A digest or a random id. The pattern demands a digit, so that words such as `deadbeef` remain.
    (re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\b"), "N"),
    # A pid, a duration or a count. The number at the end of an id such as EXEC-ENV-02 remains.
    (re.compile(r"(?<![\w-])\d+(?:\.\d+)?(?=ms\b|s\b|\b)"), "N"),
)


def stable(text: str) -> str:
    """Return the text as one line, with PATH, TIME and N in place of the parts that change."""
    for pattern, name in _CHANGES:
        text = pattern.sub(name, text)
    return one_line(text)
