"""A shim for pathspec. It matches paths with one line of a gitignore file, by `GitIgnoreSpec`."""

import os
import sys
from importlib.metadata import version

from pathspec import GitIgnoreSpec

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import wire

ABOUT = {"name": "pathspec", "version": version("pathspec"), "language": "Python"}


def read(pattern):
    return GitIgnoreSpec.from_lines([pattern]).match_file


if __name__ == "__main__":
    wire.globs(ABOUT, read, ValueError)
