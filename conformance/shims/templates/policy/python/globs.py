"""Match a path by a glob. Your own function replaces this file."""

import re
from functools import cache

TOKEN = re.compile(r"((?:^|(?<=/))\*\*/|\*\*|\*|\?)")
WILD = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


@cache
def pattern(glob):
    """Return the regular expression of a glob.

    `**/` matches zero or more directories, and `P/**` also P.
    """
    glob = glob.strip(" \t").removeprefix("./")
    below = glob.endswith("/**")
    parts = TOKEN.split(glob.removesuffix("/**") if below else glob)
    text = "".join(WILD.get(part) or re.escape(part) for part in parts)
    return re.compile(text + "(?:/.*)?" * below, re.DOTALL)


def matches(glob, path):
    return pattern(glob).fullmatch(path) is not None
