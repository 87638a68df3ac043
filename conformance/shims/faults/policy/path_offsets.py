"""Faults of the normal form of paths at block limits."""

import policy.ops as ops
from faults.policy.narrow import During
from faults.registry import fault

normalising = During("path.normalize")

BLOCK = 64
WORD = 8


def reads_paths(function):
    return normalising.replaces(ops, "normal_path")(function)


def at_a_seam(data, what):
    """True if an occurrence of `what` in data spans two blocks."""
    places = (at for at in range(len(data)) if data.startswith(what, at))
    return any(at // BLOCK != (at + len(what) - 1) // BLOCK for at in places)


@fault("POLICY-PATH-01", "a `.` segment between two blocks of 64 bytes stays", "vector units")
def dot_segment_between_blocks_stays():
    @reads_paths
    def normal_path(right, data):
        found = right(data)
        return data.decode().rstrip("/") if at_a_seam(data, b"/./") else found


@fault("POLICY-PATH-03", "a `..` between two blocks of 64 bytes passes", "vector units")
def dot_dot_between_blocks_passes():
    @reads_paths
    def normal_path(right, data):
        if at_a_seam(data, b"/../"):
            right(data.replace(b"/../", b"/xx/"))
            return data.decode()
        return right(data)


@fault("POLICY-PATH-04", "a backslash is looked for in the first 32 bytes", "one vector of bytes")
def backslash_far_behind_passes():
    @reads_paths
    def normal_path(right, data):
        front, behind = data[:32], data[32:]
        if b"\\" in behind and b"\\" not in front:
            right(front + behind.replace(b"\\", b"_"))
            return data.decode()
        return right(data)


@fault("POLICY-PATH-05", "of 16 bytes eight tell whether all are ASCII", "two words a step")
def second_word_is_not_looked_at():
    @reads_paths
    def normal_path(right, data):
        def seen(at):
            word = data[at : at + WORD]
            is_skipped = at % (2 * WORD) == WORD and data[at - WORD : at].isascii()
            return word.decode("ascii", "replace").encode() if is_skipped else word

        return right(b"".join(map(seen, range(0, len(data), WORD))))
