"""No-ops: changes that no requirement forbids. A test that fails here tests too much."""

import exec.spawn as spawn
from faults.registry import fault, replaces


@fault(None, "behaves as the unchanged implementation", "the other end of the scale", role="noop")
def nothing_is_wrong():
    @replaces(spawn.Spawn)
    def start(original, self):
        return original(self)


@fault(None, "reasons are in the words of another C library", "static Rust on musl", role="noop")
def speaks_as_another_library():
    words = {"Too many levels of symbolic links": "Symbolic link loop"}

    @replaces(spawn)
    def reason_of(original, error):
        said = original(error)
        return words.get(said, said)
