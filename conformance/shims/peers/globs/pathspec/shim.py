"""pathspec: one line of gitignore, as `GitIgnoreSpec` reads it, against paths."""

import os
import sys
from importlib.metadata import version

from pathspec import GitIgnoreSpec

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import wire

ABOUT = {"name": "pathspec", "version": version("pathspec"), "language": "Python"}


def texts(words):
    """The API takes text: bytes that are no UTF-8 as Python has them."""
    return [os.fsdecode(word) for word in words]


def match(message):
    if message.get("case", "sensitive") != "sensitive":
        raise wire.Unsupported("policy.fold")
    try:
        spec = GitIgnoreSpec.from_lines([os.fsdecode(wire.take(message, "pattern"))])
    except ValueError as why:
        return {"error": {"kind": "invalid_input", "message": str(why)}}
    matched = map(spec.match_file, texts(wire.take(message, "paths")))
    return {"result": {"items": [{"match": each} for each in matched]}}


if __name__ == "__main__":
    wire.main(ABOUT, ["glob"], {"glob.match": match})
