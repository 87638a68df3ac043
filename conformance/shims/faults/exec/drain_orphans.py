"""Faults of output that an orphan wrote."""

import exec.run as run
import exec.streams as streams
from faults.registry import fault, replaces


@fault("EXEC-DRAIN-11", "what the pipe holds at the exit is dropped", "close() before the kill")
def the_pipe_is_dropped_at_the_exit():
    # A larger chunk would read everything that a pipe holds at once.
    streams.CHUNK = 4096

    @replaces(run.Run)
    def end_after_exit(original, self):
        held = [output for output in self.outputs if output.has_writer()]
        original(self)
        for output in held:
            output.close()


@fault("EXEC-DRAIN-11", "the pipe of an orphan is read once", "one read() after the kill")
def the_pipe_of_an_orphan_is_read_once():
    streams.CHUNK = 4096

    @replaces(run.Run)
    def end_after_exit(original, self):
        for output in self.outputs:
            if output.has_writer():
                output.read()
                output.close()
        original(self)
