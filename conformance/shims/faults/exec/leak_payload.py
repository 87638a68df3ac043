"""Faults that leak with one kind of payload only."""

import os

import exec.streams as streams
from faults.registry import fault, replaces


@fault("EXEC-LEAK-01", "the pipe of an empty payload stays open", "nothing to write, so return")
def the_pipe_of_an_empty_payload_stays_open():
    @replaces(streams.Input)
    def __init__(original, self, fd, payload):
        if fd >= 0 and not payload:
            os.dup(fd)
        original(self, fd, payload)
