"""No-ops: changes that no requirement forbids. A test that fails here tests too much."""

import os

import module.execution as execution
import module.folder as folder
import module.runner as runner
from faults.registry import fault, replaces


@fault(None, "behaves as the unchanged implementation", "the other end of the scale", role="noop")
def nothing_is_wrong():
    @replaces(execution.Execution)
    def value(original, self):
        return original(self)


@fault(
    None,
    "makes each working directory in one folder that also has permanent files",
    ".NET in TMPDIR",
    role="noop",
)
def directories_are_nested_beside_files():
    @replaces(folder)
    def make(original):
        above = folder.below()
        with open(os.path.join(above, b"kept-%d" % os.getpid()), "w"):
            pass
        path = os.path.join(above, b"run-%d" % os.getpid(), b"home")
        os.mkdir(os.path.dirname(path), 0o700)
        os.mkdir(path, 0o700)
        os.chmod(path, 0o700)
        return path

    @replaces(folder)
    def remove(original, path):
        removed = original(path)
        if removed:
            os.rmdir(os.path.dirname(path))
        return removed


@fault(
    None,
    "feeds the input from an additional process in the module's group",
    "a pipe instead of a file",
    role="noop",
)
def a_helper_feeds_the_input():
    @replaces(runner)
    def hand_over_input(original):
        original()
        ends, outputs_closed = os.pipe(), os.pipe()
        if os.fork() == 0:
            # A process that holds stdout at the module's end may have lost digits of a number.
            for held in (ends[0], 1, 2, outputs_closed[1]):
                os.close(held)
            try:
                while piece := os.read(0, 1 << 16):
                    os.write(ends[1], piece)
            except BrokenPipeError:
                pass
            os._exit(0)
        os.close(outputs_closed[1])
        os.read(outputs_closed[0], 1)
        os.dup2(ends[0], 0)
        for held in (*ends, outputs_closed[0]):
            os.close(held)
