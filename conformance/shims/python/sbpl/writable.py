"""Decide whether a profile allows writing to the file that contains the profile.

A wrapped program could change such a file, and so the rules of the next command.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Form = bytes | str | list["Form"]

WRITES = ("default", "file*", "file-write*", "file-write-data", "file-write-unlink")
ENDS = b'()";'
# Filters that are nested deeper count as unknown.
DEEPEST = 32
# Counts and repeated groups. Matching such an expression may take too long.
UNBOUNDED = (b"{", b")*", b")+")


def may_write(text: bytes, path: bytes) -> bool:
    """True if the last clause about writing to the path allows it."""
    allowed = False
    for form in forms(text):
        if not isinstance(form, list) or not form or form[0] not in ("allow", "deny"):
            continue
        if not any(word in WRITES for word in form[1:] if isinstance(word, str)):
            continue
        filters = [part for part in form[1:] if not isinstance(part, str)]
        met = any_of([meets(each, path) for each in filters]) if filters else True
        # A filter of unknown meaning counts as matching in an allow, and as not matching in a deny.
        # So a possible permission is never missed.
        if met or (met is None and form[0] == "allow"):
            allowed = form[0] == "allow"
    return allowed


def meets(form: Form, path: bytes, depth: int = 0) -> bool | None:
    """True if a filter matches the path; None for an unknown filter."""
    if depth == DEEPEST:
        return None
    name, *rest = form if isinstance(form, list) and form else [""]
    if name in ("require-any", "require-all", "require-not") and rest:
        met = [meets(each, path, depth + 1) for each in rest]
        if name == "require-all":
            return negated(any_of([negated(each) for each in met]))
        return any_of(met) if name == "require-any" else negated(any_of(met))
    if len(rest) != 1 or not isinstance(rest[0], bytes):
        return None
    return of_string(name, rest[0], path)


def of_string(name: Form, value: bytes, path: bytes) -> bool | None:
    if name == "literal":
        return path == value
    if name == "subpath":
        return path == value or path.startswith(value.rstrip(b"/") + b"/")
    return matches(value, path) if name == "regex" else None


def matches(expression: bytes, path: bytes) -> bool | None:
    # re is imported here: the import takes a while, and few texts contain an expression.
    import re

    unescaped = re.sub(rb"\\.", b"", expression, flags=re.S)
    if any(form in unescaped for form in UNBOUNDED):
        return None
    try:
        return re.search(expression, path, re.S) is not None
    except re.error:
        return None


def negated(met: bool | None) -> bool | None:
    return None if met is None else not met


def any_of(met: list[bool | None]) -> bool | None:
    return True if True in met else (None if None in met else False)


def forms(text: bytes) -> Iterator[Form]:
    """Yield the forms of a text: strings as bytes, words as str, lists as lists.

    If a form does not end, stop.
    """
    lists: list[list[Form]] = []
    at = 0
    while at < len(text):
        letter = text[at : at + 1]
        if letter == b";":
            end = text.find(b"\n", at)
            at = len(text) if end < 0 else end
        elif letter == b"(":
            lists.append([])
            at += 1
        elif letter == b")" and lists:
            done = lists.pop()
            at += 1
            if lists:
                lists[-1].append(done)
            else:
                yield done
        elif letter == b'"':
            value, at = string(text, at + 1)
            if lists:
                lists[-1].append(value)
        elif letter.isspace() or letter == b")":
            at += 1
        else:
            end = at
            while end < len(text) and text[end] not in ENDS and not text[end : end + 1].isspace():
                end += 1
            if lists:
                lists[-1].append(text[at:end].decode("utf-8", "replace"))
            at = end


def string(text: bytes, at: int) -> tuple[bytes, int]:
    """Return the value of the string that begins at this place, and the place after its end."""
    value = bytearray()
    while at < len(text) and text[at : at + 1] != b'"':
        at += text[at : at + 1] == b"\\"
        value += text[at : at + 1]
        at += 1
    return bytes(value), at + 1
