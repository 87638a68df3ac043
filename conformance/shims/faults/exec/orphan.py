"""Faults about processes that a child leaves."""

import _signal
import os
from time import monotonic_ns

import exec.group as group
import exec.run as run
import exec.signals as signals
import exec.spawn as spawn
from faults.registry import fault, replaces


@fault("EXEC-ORPHAN-01", "the pipes are read to their end before the group is killed", "pitfall I4")
def drains_before_it_kills():
    @replaces(run.Run)
    def end_after_exit(original, self):
        # A real mistake would wait for ever. This time is long enough to be noticed on a slow
        # machine.
        until = monotonic_ns() + (4 if self.request.stdin == "null" else 1) * 1_000_000_000
        while any(o.fd >= 0 for o in self.outputs) and monotonic_ns() < until:
            if self.input.rest or not self.group.alive():
                break
            self.turn(until)
        original(self)


@fault("EXEC-ORPHAN-01", "the end of an orphan is reported as the child's", "the last wait wins")
def the_orphans_end_is_told():
    @replaces(run.Run)
    def end_after_exit(original, self):
        if self.group.alive() and self.end == (os.CLD_EXITED, 3):
            self.end = (os.CLD_KILLED, 9)
        original(self)


@fault("EXEC-ORPHAN-02", "leftover processes get only SIGTERM", "pitfall I5")
def sigterm_for_what_is_left():
    @replaces(run.Run)
    def end_after_exit(original, self):
        self.input.write()
        self.group.signal(_signal.SIGTERM)
        self.group.signal(_signal.SIGCONT)
        self.group.exists = lambda: False


@fault(
    "EXEC-ORPHAN-02",
    "no program is started, and the result is invented",
    "a dry run that was left on",
)
def starts_nothing():
    @replaces(run.Run)
    def spawn(original, self):
        # Only in the test of this requirement, in which orphans ignore SIGINT.
        if b"INT" in self.request.args and b"--keep" in self.request.args:
            self.request.program, self.request.args = b"/bin/true", []
        original(self)


@fault(
    "EXEC-ORPHAN-03",
    "with debug leftover members of the group keep running",
    "the copier ends the run",
)
def debug_leaves_orphans():
    @replaces(run.Run)
    def end_after_exit(original, self):
        if self.tee:
            self.input.write()
            self.group.exists = lambda: False
        else:
            original(self)


@fault("EXEC-ORPHAN-03", "only orphans that hold the pipes are killed", "pitfall I6")
def only_who_holds_the_pipes():
    @replaces(run.Run)
    def end_after_exit(original, self):
        until = monotonic_ns() + 10_000_000
        while any(o.fd >= 0 for o in self.outputs) and monotonic_ns() < until:
            self.turn(until)
        if self.input.rest or any(o.fd >= 0 for o in self.outputs):
            original(self)
        else:
            self.group.exists = lambda: False


@fault("EXEC-ORPHAN-04", "processes that left the group are killed too", "pitfall I8: tree walks")
def kills_helpers():
    import ctypes

    leaders = set()
    # One entry for each child of another run that is not yet in `leaders`.
    starting: list[int] = []

    @replaces(spawn.Spawn)
    def fork(original, self, stdio, report):
        starting.append(1)
        return original(self, stdio, report)

    @replaces(group.Group, "__init__")
    def init(original, self, leader):
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
        leaders.add(leader)
        starting.pop()
        original(self, leader)

    @replaces(group.Group)
    def reap(original, self):
        original(self)
        for process in () if starting else group.processes():
            if process.ppid == os.getpid() and not {process.pid, process.pgid} & leaders:
                os.kill(process.pid, _signal.SIGKILL)


@fault("EXEC-ORPHAN-05", "a stopped orphan is not killed", "state == R or S")
def passes_over_stopped_orphans():
    @replaces(run.Run)
    def end_after_exit(original, self):
        if any(p.pgid == self.group.leader and p.state in b"T" for p in group.processes()):
            self.group.exists = lambda: False
            for output in self.outputs:
                output.close()
        else:
            original(self)


@fault("EXEC-ORPHAN-06", "orphans that became children of the caller are not reaped", "pitfall I14")
def leaves_orphans_as_zombies():
    @replaces(group.Group)
    def collect(original, self, pid):
        if pid == self.leader:
            original(self, pid)


@fault("EXEC-ORPHAN-06", "every child of the caller is reaped", "pitfall I14: waitpid(-1)")
def collects_everybody():
    @replaces(group.Group)
    def reap(original, self):
        original(self)
        # Only for a single run: it would reap the children of other runs, which another requirement
        # tests.
        for process in group.processes() if len(signals.handlers.watches) == 1 else ():
            if process.ppid == os.getpid() and process.state in b"Z":
                self.collect(process.pid)


@fault("EXEC-ORPHAN-01", "the end of any member is taken for the child's end", "waitpid(-pgid)")
def any_end_of_the_group():
    import ctypes

    @replaces(group.Group)
    def leader_end(original, self):
        if getattr(self, "first_end", None) is None:
            how = os.WEXITED | os.WNOHANG | os.WNOWAIT
            # Only if the child itself still runs.
            info = os.waitid(os.P_PGID, self.leader, how) if not original(self) else None
            self.first_end = info and (info.si_code, info.si_status)
        end = original(self)
        return end and (self.first_end or end)

    adopts = ctypes.c_int()
    ctypes.CDLL(None).prctl(37, ctypes.byref(adopts), 0, 0, 0)  # PR_GET_CHILD_SUBREAPER

    @replaces(run.Run)
    def patience_ms(original, self, until):
        wait = original(self, until)
        if not adopts.value:
            return wait  # no event wakes this poll when another process ends
        # Return at least every 50 ms, because a wait for the group must return when a member ends.
        return 50 if wait is None else min(wait, 50)


@fault("EXEC-ORPHAN-08", "the caller stays a subreaper", "prctl() without its counterpart")
def the_caller_stays_a_subreaper():
    import ctypes

    @replaces(run.Run)
    def spawn(original, self):
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
        original(self)
