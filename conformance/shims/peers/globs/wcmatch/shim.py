"""wcmatch: `glob.compile` and its `match`, for paths that are not looked up."""

import os
import sys
from importlib.metadata import version

from wcmatch import glob

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import wire

ABOUT = {"name": "wcmatch", "version": version("wcmatch"), "language": "Python"}

# `**` and names that begin with a dot are asked for; braces, lists in parentheses, `~` and `!` are
# off unless asked for.
FLAGS = glob.GLOBSTAR | glob.DOTGLOB


def texts(words):
    """The API takes text: bytes that are no UTF-8 as Python has them."""
    return [os.fsdecode(word) for word in words]


def match(message):
    if message.get("case", "sensitive") != "sensitive":
        raise wire.Unsupported("policy.fold")
    try:
        matcher = glob.compile(os.fsdecode(wire.take(message, "pattern")), flags=FLAGS)
    except Exception as why:
        return {"error": {"kind": "invalid_input", "message": str(why)}}
    matched = map(matcher.match, texts(wire.take(message, "paths")))
    return {"result": {"items": [{"match": each} for each in matched]}}


if __name__ == "__main__":
    wire.main(ABOUT, ["glob"], {"glob.match": match})
