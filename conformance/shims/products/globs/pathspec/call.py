"""Call pathspec for ../tries.py. This file must import no other package."""

import sys

from pathspec import GitIgnoreSpec

pattern, path = sys.argv[1:]
print(str(GitIgnoreSpec.from_lines([pattern]).match_file(path)).lower())
