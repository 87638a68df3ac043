"""Faults that try a spawn again if a resource is exhausted."""

import errno
from time import sleep

import exec.spawn as spawn
from faults.registry import fault, replaces


@fault(
    "EXEC-SPAWN-11",
    "without descriptors the spawn is tried again for a second",
    "a retry for errors that are called temporary",
)
def tries_again_without_descriptors():
    @replaces(spawn.Spawn)
    def attempt(original, self):
        for _ in range(10):
            try:
                return original(self)
            except OSError as why:
                if why.errno != errno.EMFILE:
                    raise
                sleep(0.1)
        return original(self)


@fault(
    "EXEC-SPAWN-15",
    "a fork that fails with EAGAIN is tried again for a second",
    "the name of EAGAIN",
)
def tries_to_fork_again():
    @replaces(spawn.Spawn)
    def fork(original, self, stdio, report):
        for _ in range(10):
            try:
                return original(self, stdio, report)
            except OSError as why:
                if why.errno != errno.EAGAIN:
                    raise
                sleep(0.1)
        return original(self, stdio, report)
