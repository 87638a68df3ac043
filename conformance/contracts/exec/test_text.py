"""EXEC-TEXT: captured bytes are converted to text."""

from __future__ import annotations

import pytest

from boxspec.api import Blocked, Failure, expect, requires
from boxspec.api import programs as P
from contracts.exec.client import ExecCase
from contracts.exec.spawn_io import digest, hexes, pattern, stream

# For each case the bytes, and the text that they become: one U+FFFD for each maximal subpart.
INVALID = {
    "FF": (b"\xff", "\ufffd"),
    "FE": (b"\xfe", "\ufffd"),
    "F5, above the range": (b"\xf5", "\ufffd"),
    "F8 88 80 80 80": (b"\xf8\x88\x80\x80\x80", "\ufffd" * 5),
    "a lone continuation": (b"\x80", "\ufffd"),
    "two continuations": (b"\x80\xbf", "\ufffd" * 2),
    "E2 82 at the end": (b"\xe2\x82", "\ufffd"),
    "E2 at the end": (b"\xe2", "\ufffd"),
    "C3 at the end": (b"\xc3", "\ufffd"),
    "F0 9F 98 at the end": (b"\xf0\x9f\x98", "\ufffd"),
    "F0 9F at the end": (b"\xf0\x9f", "\ufffd"),
    "C0 80, overlong": (b"\xc0\x80", "\ufffd" * 2),
    "C1 BF, overlong": (b"\xc1\xbf", "\ufffd" * 2),
    "E0 80 80, overlong": (b"\xe0\x80\x80", "\ufffd" * 3),
    "E0 9F BF, overlong": (b"\xe0\x9f\xbf", "\ufffd" * 3),
    "F0 80 80 80, overlong": (b"\xf0\x80\x80\x80", "\ufffd" * 4),
    "ED A0 80, a surrogate": (b"\xed\xa0\x80", "\ufffd" * 3),
    "ED BF BF, a surrogate": (b"\xed\xbf\xbf", "\ufffd" * 3),
    "F4 90 80 80, above 10FFFF": (b"\xf4\x90\x80\x80", "\ufffd" * 4),
    "F0 9F 98 A": (b"\xf0\x9f\x98A", "\ufffdA"),
    "E2 82 A": (b"\xe2\x82A", "\ufffdA"),
    "E2 E2 82 AC": (b"\xe2\xe2\x82\xac", "\ufffd€"),
    "F0 9F F0 9F 98 80": (b"\xf0\x9f\xf0\x9f\x98\x80", "\ufffd😀"),
    "a A FF b": (b"a\xffb", "a\ufffdb"),
    "latin-1": (b"caf\xe9 au lait", "caf\ufffd au lait"),
    "61 F1 80 80 E1 80 C2 62": (b"a\xf1\x80\x80\xe1\x80\xc2b", "a\ufffd\ufffd\ufffdb"),
    "the edges of the ranges": (
        "\u007f\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff".encode(),
        "\u007f\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff",
    ),
}


@requires("EXEC-TEXT-01", pitfalls=["E7"])
@pytest.mark.parametrize("vector", INVALID)
def test_each_maximal_subpart_becomes_one_replacement(case: ExecCase, vector: str) -> None:
    raw, text = INVALID[vector]
    seen = case.exec.run(program=P.emit, args=["--out", raw.hex(), "--err", raw.hex()])
    got = (
        seen.stdout.decode("utf-8", "backslashreplace"),
        seen.stderr.decode("utf-8", "backslashreplace"),
    )
    expect("stdout and stderr as text", got, (text, text), {"bytes": raw.hex(" ")})


CHARACTERS = {"2": "é", "3": "€", "4": "😀"}
SPLITS = [(name, at) for name, char in CHARACTERS.items() for at in range(1, len(char.encode()))]


@requires("EXEC-TEXT-02", pitfalls=["E6"])
@pytest.mark.parametrize(("bytes_", "at"), SPLITS)
def test_a_character_split_between_two_writes_stays_whole(
    case: ExecCase, bytes_: str, at: int
) -> None:
    char = CHARACTERS[bytes_].encode()
    head, tail = (b"a" + char[:at]).hex(), (char[at:] + b"z").hex()
    pause = ["--gap-us", "3000"]
    seen = case.exec.run(
        program=P.emit, args=["--out", head, "--err", head, *pause, "--out", tail, "--err", tail]
    )
    wanted = b"a" + char + b"z"
    expect("stdout and stderr", (seen.stdout, seen.stderr), (wanted, wanted))


@requires("EXEC-TEXT-02", pitfalls=["E6"])
def test_characters_in_one_byte_writes_stay_whole(case: ExecCase) -> None:
    data = ("é€😀" * 5).encode()
    seen = case.exec.run(program=P.emit, args=["--each-byte", "--gap-us", "1000", *hexes(data)])
    expect("stdout", seen.stdout, data)


EDGES = [
    pytest.param(name, at, id=f"{name}-bytes-{at}-before")
    for name, char in CHARACTERS.items()
    for at in range(1, len(char.encode()) + 1)
]


@requires("EXEC-TEXT-02", pitfalls=["E6"])
@pytest.mark.parametrize(("bytes_", "at"), EDGES)
def test_a_character_across_every_4096th_byte_stays_whole(
    case: ExecCase, bytes_: str, at: int
) -> None:
    char = CHARACTERS[bytes_].encode()
    # The output fits into a pipe, because EXEC-DRAIN tests larger outputs.
    data = b"".join(b"a" * (4096 - len(char)) + char for _ in range(14))
    data = data[len(char) - at :] + b"a" * at
    seen = case.exec.run(program=P.emit, args=hexes(data, piece=60_000))
    expect("stdout", stream(seen, "stdout"), digest(data))


@requires("EXEC-TEXT-02", pitfalls=["E6"])
@pytest.mark.parametrize(("bytes_", "at"), SPLITS)
def test_a_character_across_the_65536th_byte_stays_whole(
    case: ExecCase, bytes_: str, at: int
) -> None:
    char = CHARACTERS[bytes_].encode()
    data = b"a" * (65_536 - at) + char + b"a" * 4096
    source = case.tmp / "source"
    source.write_bytes(data)
    try:
        plain = case.exec.run(program=P.flood, args=[str(len(data)), "0"], within_s=5)
    except Failure as why:
        raise Blocked(["EXEC-DRAIN-02"], "output larger than a pipe does not arrive") from why
    if stream(plain, "stdout") != digest(pattern(len(data))):
        raise Blocked(["EXEC-DRAIN-02"], "output larger than a pipe arrives incomplete")
    seen = case.exec.run(program="/bin/cat", args=[str(source)])
    expect("stdout", stream(seen, "stdout"), digest(data))


KEPT = {
    "NUL between": b"a\0b",
    "only NUL": b"\0\0\0",
    "NUL last": b"x\0",
    "a last newline": b"x\n",
    "several last newlines": b"x\n\n\n",
    "first newlines": b"\n\nx",
    "blanks around": b"  x \t ",
    "only a newline": b"\n",
    "carriage returns": b"a\r\nb\rc\r\n",
    "a byte order mark": b"\xef\xbb\xbfx",
    "control characters": bytes(range(1, 32)) + b"\x7f",
    "escapes of a terminal": b"\x1b[31mred\x1b[0m",
    "no line end": b"x",
    "a replacement character of its own": "\ufffd".encode(),
    "combining and joined": "e\u0301 👩‍👩‍👧 \u2028\u2029\u0085".encode(),
}


@requires("EXEC-TEXT-03", pitfalls=["E8"])
@pytest.mark.parametrize("vector", KEPT)
def test_nothing_is_trimmed_cut_or_translated(case: ExecCase, vector: str) -> None:
    raw = KEPT[vector]
    seen = case.exec.run(program=P.emit, args=["--out", raw.hex(), "--err", raw.hex()])
    expect("stdout and stderr", (seen.stdout, seen.stderr), (raw, raw))
