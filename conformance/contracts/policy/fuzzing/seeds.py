"""Make the first inputs of the fuzz targets for globs, paths and policies from the vectors."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache

from boxspec.fuzz.targets import ONE_ALONE, TEXTS
from boxspec.places import ROOT
from boxspec.subject.client.b64 import raw, unb64
from contracts.policy import vectors
from contracts.shared import documents


@cache
def _table(name: str) -> dict[bytes, int]:
    """Read a table of symbols in fuzz/support/glob_gen.c; return each text with its number."""
    source = (ROOT / "fuzz" / "support" / "glob_gen.c").read_text(encoding="utf-8")
    body = source.split(f" {name}[32] = {{")[1].split("};")[0]
    words = []
    for literal in re.findall(r'TEXT\(("[^"]*")\)', body):
        text = ast.literal_eval(literal)
        # In C, \x is a byte. In Python it is a character. \u is a character in both.
        words.append(text.encode("latin-1" if "\\x" in literal else "utf-8"))
    return {word: number for number, word in reversed([*enumerate(words)]) if word}


def _symbols(text: bytes) -> bytes:
    """Return the bytes of an input that decodes to this text.

    Letters without a symbol are replaced by others.
    """
    common, rare = _table("symbols"), _table("rarities")
    out = bytearray()
    while text:
        for table, mark in ((common, b""), (rare, b"\x1f")):
            word = max((w for w in table if text.startswith(w)), key=len, default=None)
            if word is not None:
                out += mark + bytes([table[word]])
                text = text[len(word) :]
                break
        else:
            out.append(common[b"abcx"[text[0] % 4 :][:1]])
            text = text[1:]
    return bytes(out) + b"\0"


def _globs() -> Iterator[tuple[bytes, bytes]]:
    for vector in vectors.every().values():
        if vector.kind == "glob":
            yield vector.word("pattern"), vector.word("path")
        elif vector.kind == "glob-refused":
            yield vector.word("pattern"), b"a"


def glob_diff() -> Iterator[bytes]:
    for pattern, path in _globs():
        # After an odd byte the target reads a path from the input; otherwise it makes a path from
        # the glob.
        yield _symbols(pattern) + b"\x01" + _symbols(path)
        yield _symbols(pattern)


def glob_raw() -> Iterator[bytes]:
    for pattern, path in _globs():
        yield pattern + b"\xff" + path


def glob_laws() -> Iterator[bytes]:
    """Yield an input for each law about a glob: the glob, and bytes that decide the rest."""
    for pattern, path in _globs():
        for law in range(6):
            yield bytes([law]) + _symbols(pattern) + b"\x01" + _symbols(path)


def path_norm() -> Iterator[bytes]:
    for vector in vectors.every().values():
        if vector.kind in ("normalize", "glob"):
            yield vector.word("path")


def _texts(form: str) -> Iterator[bytes]:
    for vector in vectors.every().values():
        if vector.kind == "load" and vector.fields["format"] == form:
            if "repeat" in vector.fields:
                yield vectors.repeated(vector.fields["repeat"]).encode()
            else:
                yield vector.word("text")


def policy_json() -> Iterator[bytes]:
    return _texts("json")


def policy_yaml() -> Iterator[bytes]:
    return _texts("yaml")


# One short text of each kind, because the fuzzer tries short inputs and their mutations first.
SMALL = {
    "json": ('{"a":[1]}', "[-0.5e+1]", '"\\u0041\\n\u00e9"', "true", "false", "null"),
    "yaml": ("a: [b]\n", "- 'c'\n", "|\n d\n", '"\\x41\u00e9"', "? e", "~"),
}


def shim_diff() -> Iterator[bytes]:
    """Yield inputs with one request each, so that the report of a difference contains a short case.

    An input stands for a batch, and its first byte selects one request by its number. In a batch
    about a glob, 0 is path.normalize and 1 is glob.match. In a batch about files, 0 loads the files
    unchanged. The small texts select no request, so their whole batch is sent.
    """
    paths = [
        vector.word("path") for vector in vectors.every().values() if vector.kind == "normalize"
    ]
    asked = [*((0, b"a", path) for path in paths), *((1, glob, path) for glob, path in _globs())]
    for number, glob, path in asked:
        # The input contains first a glob, and then one path.
        yield bytes([ONE_ALONE + number, 0]) + _symbols(glob) + b"\0\x01" + _symbols(path)
    for form, texts in SMALL.items():
        for text in texts:
            yield b"\0" + _files({"format": form, "text": text})
    for vector in vectors.every().values():
        if vector.kind == "load":
            yield bytes([ONE_ALONE]) + _files(vectors.policy_in(vector.fields))


def _files(policy: documents.Policy) -> bytes:
    """Return the one or two files of a policy in the form that shim_diff reads."""
    files = [policy, *([policy["workspace"]] if "workspace" in policy else [])]
    marks = TEXTS | (len(files) - 1) << 1
    texts = []
    for number, given in enumerate(files):
        marks |= (given["format"] == "yaml") << 2 * number
        texts.append(unb64(given["text_b64"]) if "text_b64" in given else raw(given["text"]))
    return bytes([marks]) + b"\xff".join(texts)


MAKERS: dict[str, Callable[[], Iterator[bytes]]] = {
    made.__name__: made
    for made in (
        glob_diff,
        glob_raw,
        glob_laws,
        path_norm,
        policy_json,
        policy_yaml,
        shim_diff,
    )
}
