"""Convert output bytes to the text of a result, or to a digest if the text is long."""

from __future__ import annotations

import codecs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kinds import Object

DIGEST_ABOVE = 1024 * 1024
EDGE = 4096


def decode(chunks: Iterable[bytes], cut: bool) -> Iterator[str]:
    """Yield the text of the pieces. A character may be split between two pieces.

    Each maximal subpart that is not UTF-8 becomes one U+FFFD, as in CPython's decoder.
    cut: True if the cap has cut the output. Then an incomplete character at the end is dropped.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for chunk in chunks:
        yield decoder.decode(chunk)
    if not cut:
        yield decoder.decode(b"", final=True)


def annotation(note: str, empty: bool) -> str:
    return note if empty else "\n" + note


def as_json(chunks: Sequence[bytes], cut: bool = False, note: str | None = None) -> str | Object:
    length = sum(map(len, chunks))
    # replacing invalid bytes never makes the text shorter, so a long output is a long text
    if length > DIGEST_ABOVE:
        return digest(pieces(chunks, cut, note))
    text = "".join(pieces(chunks, cut, note))
    return digest([text]) if len(text.encode()) > DIGEST_ABOVE else text


def pieces(chunks: Sequence[bytes], cut: bool, note: str | None) -> Iterator[str]:
    yield from decode(chunks, cut)
    if note:
        yield annotation(note, not chunks)


def digest(texts: Iterable[str]) -> Object:
    # These modules are imported here, because they would double the start-up time of every run.
    from binascii import b2a_base64
    from hashlib import sha256

    length = 0
    sum256 = sha256()
    head = tail = b""
    for text in texts:
        data = text.encode()
        length += len(data)
        sum256.update(data)
        head += data[: EDGE - len(head)]
        tail = (tail + data[-EDGE:])[-EDGE:]
    return {
        "bytes": length,
        "sha256": sum256.hexdigest(),
        "head_b64": b2a_base64(head, newline=False).decode(),
        "tail_b64": b2a_base64(tail, newline=False).decode(),
    }
