"""Faults that try a spawn again if a resource is exhausted."""

import errno
from time import sleep

import exec.spawn as spawn
from faults.registry import fault, replaces


def tries_again(step, refused):
    """Repeat a step of a spawn for a second while it fails with this errno."""

    @replaces(spawn.Spawn, step)
    def again(original, self, *arguments):
        for _ in range(10):
            try:
                return original(self, *arguments)
            except OSError as why:
                if why.errno != refused:
                    raise
                sleep(0.1)
        return original(self, *arguments)


@fault(
    "EXEC-SPAWN-11",
    "without descriptors the spawn is tried again for a second",
    "a retry for errors that are called temporary",
)
def tries_again_without_descriptors():
    tries_again("attempt", errno.EMFILE)


@fault(
    "EXEC-SPAWN-15",
    "a fork that fails with EAGAIN is tried again for a second",
    "the name of EAGAIN",
)
def tries_to_fork_again():
    tries_again("fork", errno.EAGAIN)
