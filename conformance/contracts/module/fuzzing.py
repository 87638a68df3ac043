"""First inputs of the fuzz target that checks the JSON of modules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from boxspec.subject.contract import Fuzzing

TEXTS = [
    *("", " ", "null", "true", "false", "0", "-0", "01", "-", "1.", "1.5e-3", "1e400", "NaN"),
    *('""', '"a', '"\\u0000"', '"\\ud83d\\ude00"', '"\\ud83d"', '"\\x"', '"\t"', '"ä😀"', "'a'"),
    *("[]", "[1, 2]", "[1,]", "[1 2]", "[[[]]]", "{}", '{"a": 1}', '{"a": 1, "a": 2}', '{"a"}'),
    *(
        "\t\r\n null\r\n\t ",
        ' {"a": [null]} \n',
        "null null",
        "null,",
        "\ufeffnull",
        "nul",
        "//\nnull",
        "{a: 1}",
    ),
    "[" * 70 + "]" * 70,
]
BYTES = [b"\xff", b'"\xed\xa0\x80"', b'"\xc3"', b"null\0", b'"\0"']


def module_json() -> Iterator[bytes]:
    """Yield edge cases of the syntax, of strings and of the text around a value."""
    for text in TEXTS:
        yield text.encode()
    yield from BYTES


def _no_vectors(
    _: Mapping[str, Any], accused: Mapping[str, Any] | None = None
) -> Iterator[dict[str, Any]]:
    return iter(())


FUZZING = Fuzzing(seeds={"module_json": module_json}, vectors_of=_no_vectors, ids=tuple)
