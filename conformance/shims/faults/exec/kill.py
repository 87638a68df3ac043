"""Faults in ending a group.

Most of them apply only if a deadline ends the run. Otherwise they would also break the requirements
about signals to the caller, which have faults of their own in signal.py.
"""

import _signal
import os
import select
from time import monotonic_ns

import constants
import exec.group as group
import exec.run as run
import exec.spawn as spawn
from errors import Failed
from faults.registry import fault, replaces


def at_deadlines(method):
    """Replace a method of runs that end by a deadline."""

    def install(function):
        @replaces(run.Run)
        def terminate(original, self, cause):
            if cause.name == "timeout":
                setattr(self, method, lambda *given: function(self, *given))
            original(self, cause)

        return function

    return install


def leave(a_run):
    """End the run here: pretend that the group has ended, and close the outputs."""
    a_run.group.exists = lambda: False
    for output in a_run.outputs:
        output.close()


@fault("EXEC-KILL-01", "SIGTERM goes to the leader only", "pitfall B5")
def only_the_leader():
    @at_deadlines("first_signal")
    def first_signal(self, cause):
        os.kill(self.group.leader, _signal.SIGTERM)
        os.kill(self.group.leader, _signal.SIGCONT)


@fault("EXEC-KILL-02", "SIGKILL after one second", "a grace of its own")
def shorter_grace():
    @replaces(run.Run)
    def terminate(original, self, cause):
        if cause.name != "timeout":
            original(self, cause)
            return
        self.first_signal(cause)
        if not self.await_end(monotonic_ns() + 1_000_000_000):
            self.kill()


@fault("EXEC-KILL-02", "SIGKILL never comes", "pitfall G2: bazel#1437")
def never_kills():
    @at_deadlines("kill")
    def kill(self):
        self.group.reap = lambda: None
        leave(self)


@fault("EXEC-KILL-03", "the grace ends when the leader ends", "pitfall G4: FrameOS#372")
def the_leaders_end_ends_the_grace():
    @at_deadlines("ended")
    def ended(self, fired):
        self.end = self.end or self.group.leader_end()
        return bool(self.end)


@fault(
    "EXEC-KILL-03", "after a signal to the caller the grace ends when the leader ends", "pitfall G4"
)
def a_signals_grace_ends_with_the_leader():
    @replaces(run.Run)
    def terminate(original, self, cause):
        self.is_signalled = cause.name == "parent_signal"
        original(self, cause)

    @replaces(run.Run)
    def ended(original, self, fired):
        done = original(self, fired)
        return done or (getattr(self, "is_signalled", False) and bool(self.end))

    @replaces(run.Run)
    def drain(original, self):
        if getattr(self, "is_signalled", False):
            self.group.kill()
        original(self)


@fault("EXEC-KILL-04", "the grace is always waited for whole", "sleep(5)")
def waits_the_whole_grace():
    @replaces(run.Run)
    def terminate(original, self, cause):
        until = monotonic_ns() + constants.GRACE_NS
        members = len(self.group.alive())
        original(self, cause)
        while cause.name == "timeout" and members > 2 and monotonic_ns() < until:
            self.turn(until)


@fault("EXEC-KILL-05", "a zombie counts as a living member", "pitfall G6: kill(-pgid, 0)")
def zombies_are_alive():
    @at_deadlines("ended")
    def ended(self, fired):
        mine = (self.group.leader, os.getpid())
        others = (p for p in group.processes() if p.pgid == mine[0] and p.pid != mine[0])
        gone = run.Run.ended(self, fired)
        return gone and not any(p.ppid != mine[1] for p in others)


@fault("EXEC-KILL-06", "a stopped leader counts as ended", "WIFSTOPPED is not checked")
def stopped_is_ended():
    @replaces(run.Run)
    def terminate(original, self, cause):
        leader = next(p for p in group.processes() if p.pid == self.group.leader)
        if cause.name == "timeout" and leader.state in b"Tt":
            self.group.reap = lambda: None
            leave(self)
        else:
            original(self, cause)


@fault("EXEC-KILL-07", "no SIGCONT after SIGTERM", "pitfall G7: coreutils@45b8fe430")
def no_sigcont():
    @at_deadlines("first_signal")
    def first_signal(self, cause):
        self.group.signal(_signal.SIGTERM)


@fault("EXEC-KILL-07", "no SIGCONT after a signal to the caller", "pitfall H20")
def no_sigcont_after_a_signal():
    @replaces(run.Run)
    def first_signal(original, self, cause):
        if cause.signal:
            self.group.signal(cause.signal)
        else:
            original(self, cause)


@fault("EXEC-KILL-08", "a zombie leader counts as dead although its threads run", "pitfall I12")
def threads_do_not_count():
    @at_deadlines("ended")
    def ended(self, fired):
        self.end = self.end or self.group.leader_end()
        gone = all(p.state in b"ZX" for p in group.processes() if p.pgid == self.group.leader)
        if gone:
            self.group.kill()  # the correct code does this whenever a group has ended
        return gone


@fault(
    "EXEC-KILL-09", "SIGKILL goes only to members that existed at the first signal", "pitfall G17"
)
def kills_only_who_was_there():
    @replaces(run.Run)
    def terminate(original, self, cause):
        if cause.name != "timeout":
            original(self, cause)
            return
        there = self.group.alive()
        self.group.alive = lambda: [p for p in group.Group.alive(self.group) if p in there]
        original(self, cause)
        for output in self.outputs:
            while output.fd >= 0 and output.read():
                pass
        leave(self)

    @replaces(group.Group)
    def kill(original, self):
        if "alive" in vars(self):
            for pid in self.alive():
                try:
                    os.kill(pid, _signal.SIGKILL)
                except ProcessLookupError:
                    pass
        else:
            original(self)


@fault("EXEC-KILL-10", "SIGTERM is sent again and again", "retry loops")
def repeats_sigterm():
    @at_deadlines("await_end")
    def await_end(self, until, again=None):
        more = again or (lambda: self.group.signal(_signal.SIGTERM))
        return run.Run.await_end(self, until, more)


@fault("EXEC-KILL-10", "the leader is signalled, and its group as well", "coreutils timeout.c")
def signals_leader_and_group():
    @at_deadlines("first_signal")
    def first_signal(self, cause):
        os.kill(self.group.leader, _signal.SIGTERM)
        self.group.signal(_signal.SIGTERM)
        self.group.signal(_signal.SIGCONT)


@fault("EXEC-KILL-11", "after a failed fork the signal goes to PID 0", "a pid that was never set")
def signals_group_zero():
    @replaces(spawn.Spawn)
    def start(original, self):
        try:
            return original(self)
        except Failed:
            # SIGURG is harmless. The shim leads its group in the suite; a group that another
            # process leads must not be signalled.
            if os.getpgrp() == os.getpid():
                os.kill(0, _signal.SIGURG)
            raise


@fault("EXEC-KILL-11", "its own group is signalled too", "pitfall B4: killpg(0)")
def signals_its_own_group():
    @replaces(run.Run)
    def first_signal(original, self, cause):
        original(self, cause)
        # Only if the shim leads its group, as in the suite: the group of another caller must not be
        # signalled.
        if cause.name == "timeout" and os.getpgrp() == os.getpid():
            os.killpg(os.getpgrp(), _signal.SIGCONT)


@fault("EXEC-KILL-11", "the children of the child are signalled one by one", "a walk of the tree")
def signals_the_tree():
    @at_deadlines("first_signal")
    def first_signal(self, cause):
        leader = self.group.leader
        with open(f"/proc/{leader}/task/{leader}/children", "rb") as listed:
            children = listed.read().split()
        for pid in map(int, children):
            os.kill(pid, _signal.SIGTERM)
        self.group.signal(_signal.SIGTERM)
        self.group.signal(_signal.SIGCONT)


@fault(
    "EXEC-KILL-12",
    "a signal just after the start does not reach the group",
    "pitfall B2: ghostty#1168",
)
def misses_a_young_group():
    @replaces(run.Run)
    def end_group(original, self, cause):
        if cause.name == "timeout" and self.request.timeout_ms <= 2:
            leave(self)
        else:
            original(self, cause)


@fault(
    "EXEC-KILL-13", "the run does not wait for SIGKILL to take effect", "pitfall I15: bazel#10245"
)
def does_not_wait_for_sigkill():
    @at_deadlines("kill")
    def kill(self):
        helper = os.fork()
        if helper == 0:
            if os.fork() == 0:
                os.closerange(0, os.sysconf("SC_OPEN_MAX"))
                select.poll().poll(200)
                self.group.signal(_signal.SIGKILL)
            os._exit(0)
        os.waitpid(helper, 0)
        leave(self)


@fault("EXEC-KILL-03", "/proc/PID/stat is parsed up to its first closing bracket", "sscanf (%[^)])")
def stops_at_the_first_bracket():
    @replaces(group.Member, "__init__")
    def init(original, self, line):
        original(self, line)
        fields = line[line.index(b")") + 2 :].split()
        self.state = fields[0]
        self.pgid = int(fields[2]) if fields[2].isdigit() else -1


@fault("EXEC-KILL-07", "SIGCONT goes only to the leader", "kill(pid, SIGCONT)")
def continues_the_leader_alone():
    @at_deadlines("first_signal")
    def first_signal(self, cause):
        self.group.signal(_signal.SIGTERM)
        os.kill(self.group.leader, _signal.SIGCONT)


@fault("EXEC-KILL-02", "output restarts the grace period", "a timer for each read")
def output_extends_the_grace():
    @replaces(run.Run)
    def terminate(original, self, cause):
        self.first_signal(cause)
        until = monotonic_ns() + constants.GRACE_NS
        seen = sum(each.length for each in self.outputs)
        while not self.await_end(monotonic_ns() + 100_000_000):
            if seen != (seen := sum(each.length for each in self.outputs)):
                until = monotonic_ns() + constants.GRACE_NS
            if monotonic_ns() >= until:
                return self.kill()
        return None


@fault("EXEC-KILL-15", "a signal that is refused is an error of the run", "EPERM: sudo")
def a_refused_signal_is_an_error():
    @replaces(group.Group)
    def kill(original, self):
        try:
            os.kill(self.leader, 0)
        except PermissionError:
            raise Failed("execution", "kill: Operation not permitted") from None
        except ProcessLookupError:
            pass
        original(self)


@fault(
    "EXEC-KILL-15",
    "a member that survives SIGKILL is waited for without limit",
    "a kill that cannot fail",
)
def waits_for_who_lives_on():
    run.KILL_NS = 4_000_000_000


@fault("EXEC-KILL-16", "group_left is always 0", "a field that is never set")
def counts_nobody():
    @replaces(run.Run)
    def report(original, self, cause):
        self.group_left = 0
        return original(self, cause)


@fault("EXEC-KILL-16", "group_left is at most 1", "a bool as a number")
def counts_to_one():
    @replaces(run.Run)
    def report(original, self, cause):
        self.group_left = min(1, self.group_left)
        return original(self, cause)


@fault(
    "EXEC-KILL-10",
    "signals to the caller in the grace are sent to the group",
    "a handler that passes all on",
)
def signals_in_the_grace_are_passed_on():
    told: list[run.Run] = []

    @replaces(run.Run)
    def first_signal(original, self, cause):
        original(self, cause)
        told[:] = [self]

    @replaces(run.Run)
    def turn(original, self, until):
        before = len(self.watch.noted)
        ready = original(self, until)
        if self in told:
            for number in self.watch.noted[before:]:
                self.group.signal(number)
        return ready


@fault(
    "EXEC-KILL-13",
    "a child reaped by another process leaves its group running",
    "an early return on ECHILD",
)
def a_lost_child_leaves_its_group():
    @replaces(group.Group)
    def kill_by_pidfd(original, self):
        pass


@fault("EXEC-KILL-03", "a leader that ends late restarts the grace period", "a timer for each wait")
def grace_begins_anew_behind_the_leader():
    @replaces(run.Run)
    def terminate(original, self, cause):
        if cause.name != "timeout":
            return original(self, cause)
        first = monotonic_ns()
        self.first_signal(cause)
        while not self.ended(True) and not self.end and monotonic_ns() < first + constants.GRACE_NS:
            self.turn(min(first + constants.GRACE_NS, self.ending.next_look))
        late = monotonic_ns() > first + 1_000_000_000
        if not self.await_end((monotonic_ns() if late else first) + constants.GRACE_NS):
            self.kill()
        return None


@fault("EXEC-KILL-13", "without /proc a group counts as empty", "opendir() fails")
def without_proc_a_group_is_empty():
    @replaces(run)
    def proc_is_ours(original):
        return True
