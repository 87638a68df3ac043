"""A fault that depends on the numbers of descriptors."""

import os

import exec.spawn as spawn
from faults.registry import fault, replaces


@fault("PROCESS-CHILD-02", "own numbers above 1023 stay open in the child", "closerange(3, 1024)")
def own_numbers_above_1023_stay_open():
    @replaces(spawn.Spawn)
    def pipe(original, self):
        ends = original(self)
        for fd in ends:
            os.set_inheritable(fd, fd > 1023)
        return ends
