"""Changes nothing that a contract names: whoever is caught here is caught by chance."""

import exec.spawn as spawn
from faults.registry import fault, replaces


@fault(None, "behaves as the twin does", "the other end of the scale", role="noop")
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
