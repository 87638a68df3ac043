"""Bytes of the child into the text of a result."""

import codecs

DIGEST_ABOVE = 1024 * 1024
EDGE = 4096


def lossy(data):
    """One U+FFFD for each maximal subpart that is not UTF-8: what CPython's decoder does too."""
    return data.decode("utf-8", "replace")


def lossy_cut(data):
    """As lossy, but a character that the cap has cut at the end is dropped, not replaced."""
    return codecs.utf_8_decode(data, "replace", False)[0]


def annotate(stderr, note):
    return stderr + "\n" + note if stderr else note


def as_json(text):
    """The text, or its digest where an answer with it would grow too long."""
    if len(text) * 4 <= DIGEST_ABOVE:
        return text
    data = text.encode()
    if len(data) <= DIGEST_ABOVE:
        return text
    # Imported where needed: they cost as much as the rest of the start.
    from binascii import b2a_base64
    from hashlib import sha256

    return {
        "bytes": len(data),
        "sha256": sha256(data).hexdigest(),
        "head_b64": b2a_base64(data[:EDGE], newline=False).decode(),
        "tail_b64": b2a_base64(data[-EDGE:], newline=False).decode(),
    }
