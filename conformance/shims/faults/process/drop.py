"""Faults in dropping a handle."""

import _signal
import _thread
import contextlib
import os
from time import sleep

import process.handle as handle
from errors import Failed
from faults.registry import fault, replaces


@fault("PROCESS-DROP-01", "a dropped child keeps running", "std::process::Child")
def runs_on():
    @replaces(handle.Process)
    def drop(original, self):
        pass


@fault("PROCESS-DROP-01", "a dropped child is not reaped", "kill() without wait()")
def is_not_reaped():
    @replaces(handle.Process)
    def drop(original, self):
        self.signal(9)


@fault(
    "PROCESS-DROP-01", "a drop after the leader's end reaps only the leader", "try_wait() in drop"
)
def the_leader_alone():
    @replaces(handle.Process)
    def drop(original, self):
        # `look` fails for a child that another process has reaped, which another requirement tests.
        with contextlib.suppress(Failed):
            if not self.reaped and self.look():
                self.group.reap()
                self.reaped = True
        original(self)


@fault(
    "PROCESS-DROP-01",
    "a drop waits until the remaining output is read",
    "communicate() in __exit__",
)
def reads_what_is_left():
    @replaces(handle.Process)
    def drop(original, self):
        for fd in self.fds[1:]:
            # A bridge reads without blocking, so a read may find no data.
            with contextlib.suppress(BlockingIOError):
                while self.reaped and fd >= 0 and os.read(fd, 4096):
                    pass
        original(self)


@fault("PROCESS-DROP-01", "a drop returns before the end", "kill, and reap in a thread")
def returns_before_the_end():
    @replaces(handle.Process)
    def drop(original, self):
        def later():
            sleep(0.3)
            original(self)

        self.signal(_signal.SIGKILL)
        _thread.start_new_thread(later, ())
