"""A shim for wcmatch: `glob.compile` and its `match`, which do not access the file system."""

import os
import sys
from importlib.metadata import version

from wcmatch import glob

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import wire

ABOUT = {"name": "wcmatch", "version": version("wcmatch"), "language": "Python"}

# These flags enable `**`, and names that begin with a dot. Braces, lists in parentheses, `~` and
# `!` are off by default.
FLAGS = glob.GLOBSTAR | glob.DOTGLOB


def read(pattern):
    return glob.compile(pattern, flags=FLAGS).match


if __name__ == "__main__":
    wire.globs(ABOUT, read, Exception)
