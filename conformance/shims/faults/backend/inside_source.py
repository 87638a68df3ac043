"""Changes of the source that the first program inside executes, for faults of other files."""

import backend.inside as inside
from faults.registry import replaces

CLOSES = b"os.closerange(3, 65536)"


def change_inside(old, new):
    @replaces(inside)
    def read_file(original, path):
        return original(path).replace(old, new)
