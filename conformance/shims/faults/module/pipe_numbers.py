"""Faults that depend on the numbers of descriptors."""

import os

import module.execution as execution
import module.runner as runner
from faults.registry import fault, replaces


@fault("MODULE-PIPE-03", "descriptors are closed up to 255 only", "OPEN_MAX of 256")
def closed_up_to_255():
    @replaces(runner)
    def close_inherited_descriptors(original):
        os.closerange(3, 256)


@fault("MODULE-PIPE-03", "descriptors are closed up to 1023 only", "FD_SETSIZE")
def closed_up_to_1023():
    @replaces(runner)
    def close_inherited_descriptors(original):
        os.closerange(3, 1024)


@fault("MODULE-PIPE-05", "numbers above 1023 cannot be watched", "select()")
def numbers_above_1023_cannot_be_watched():
    @replaces(execution.RawRun)
    def interests(original, self):
        found = list(original(self))
        if any(fd > 1023 for fd, _ in found):
            raise ValueError("filedescriptor out of range in select()")
        return iter(found)


@fault("MODULE-PIPE-03", "number 3 is not closed", "a report pipe of its own")
def number_3_is_not_closed():
    @replaces(runner)
    def close_inherited_descriptors(original):
        os.closerange(4, runner.MOST_DESCRIPTORS)
