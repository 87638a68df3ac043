"""What of a reason is the same in the next run: it names a deviation in a baseline."""

from __future__ import annotations

import re

from boxspec.printable import one_line

_CHANGES = (
    # A path: of a case, of a checkout, of whoever runs this.
    (re.compile(r"(?<![\w.~/])(?:/[^\s/'\"`(),:;\[\]{}]+)+/?"), "PATH"),
    # A moment, as RFC 3339 has it.
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)?"), "TIME"),
    # A digest or a mark; words such as `deadbeef` have no digit.
    (re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\b"), "N"),
    # A pid, a duration, a count; not the number in EXEC-ENV-02.
    (re.compile(r"(?<![\w-])\d+(?:\.\d+)?(?=ms\b|s\b|\b)"), "N"),
)


def stable(text: str) -> str:
    """One line with PATH, TIME and N where the text may differ from one run to the next."""
    for pattern, name in _CHANGES:
        text = pattern.sub(name, text)
    return one_line(text)
