"""Faults about the child's stdin."""

import _signal
import os
import select
from time import monotonic_ns

import exec.run as run
import exec.signals as signals
import exec.spawn as spawn
import exec.streams as streams
import exec.terminal as terminal
from errors import Failed
from faults.registry import fault, replaces


@fault("EXEC-STDIN-01", "without a mode stdin is /dev/null", "pitfall C15: execa@3ed0544")
def default_is_null():
    @replaces(spawn.Spawn)
    def open_stdin(original, self):
        if self.request.stdin == "inherit":
            self.request.stdin = "null"
        return original(self)


@fault("EXEC-STDIN-02", "stdin=null closes descriptor 0", "pitfall C11: ninja@d8d3b2f0")
def null_is_closed():
    @replaces(spawn.Spawn)
    def place(original, self, stdio):
        original(self, stdio)
        if self.request.stdin == "null":
            spawn.os.close(0)


@fault("EXEC-STDIN-02", "stdin=null inherits the caller's stdin", "a switch without the case")
def null_inherits():
    @replaces(spawn.Spawn)
    def open_stdin(original, self):
        return (-1, 0) if self.request.stdin == "null" else original(self)


@fault("EXEC-STDIN-03", "the payload ends at its first NUL", "strlen")
def payload_ends_at_nul():
    @replaces(streams.Input, "__init__")
    def init(original, self, fd, payload):
        original(self, fd, payload.split(b"\0")[0])


@fault("EXEC-STDIN-03", "a newline is added to a payload without one", "println, here-strings")
def adds_a_newline():
    @replaces(streams.Input, "__init__")
    def init(original, self, fd, payload):
        original(self, fd, payload if not payload or payload.endswith(b"\n") else payload + b"\n")


@fault("EXEC-STDIN-14", "a payload that is not UTF-8 is replaced", "Node, Java")
def payload_becomes_text():
    @replaces(streams.Input, "__init__")
    def init(original, self, fd, payload):
        original(self, fd, payload.decode("utf-8", "replace").encode())


@fault("EXEC-STDIN-03", "the cap of the output cuts the payload to one pipe", "one limit for all")
def a_cap_cuts_the_payload():
    @replaces(run.Run)
    def spawn(original, self):
        original(self)
        if self.request.max_output_bytes is not None and self.input.fd >= 0:
            self.input.rest = self.input.rest[:65_536]


@fault("EXEC-STDIN-04", "an empty payload counts as no payload", "pitfall F1: if stdin:")
def empty_payload_inherits():
    @replaces(spawn.Spawn)
    def open_stdin(original, self):
        return original(self) if self.request.stdin else (-1, 0)


@fault("EXEC-STDIN-05", "the payload is written before the output is read", "pitfall F2")
def writes_before_it_reads():
    @replaces(run.Run)
    def interests(original, self):
        outputs = {output.fd for output in self.outputs}
        waits = self.input.fd >= 0 and self.deadline is None
        yield from (pair for pair in original(self) if not waits or pair[0] not in outputs)


@fault("EXEC-STDIN-06", "a failed write is only a run without success", "BrokenPipeError passed")
def failed_write_is_a_result():
    @replaces(run.Run)
    def report(original, self, cause):
        if cause.name == "stdin":
            cause = run.Cause("exit")
        return original(self, cause)


@fault("EXEC-STDIN-07", "the child keeps running after a failed write", "pitfall F6")
def child_runs_on():
    @replaces(run.Run)
    def await_cause(original, self):
        cause = original(self)
        if cause.name == "stdin":
            raise Failed("execution", "failed to write stdin: Broken pipe")
        return cause


@fault("EXEC-STDIN-07", "after a failed write only the leader is signalled", "proc.terminate()")
def failed_write_ends_the_leader_alone():
    @replaces(run.Run)
    def first_signal(original, self, cause):
        if cause.name == "stdin":
            os.kill(self.group.leader, _signal.SIGTERM)
        else:
            original(self, cause)


@fault("EXEC-STDIN-07", "after a failed write a member that ignores SIGTERM lives on", "pitfall G4")
def failed_write_waits_for_the_leader_alone():
    @replaces(run.Run)
    def ended(original, self, fired):
        done = original(self, fired)
        return done or (bool(self.input.failure) and bool(self.end))


@fault("EXEC-STDIN-07", "a failed write has a grace of a second", "a constant of its own")
def failed_write_has_a_grace_of_its_own():
    @replaces(run.Run)
    def await_end(original, self, until, again=None):
        if self.input.failure and again is None:
            until = min(until, monotonic_ns() + 1_000_000_000)
        return original(self, until, again)


@fault("EXEC-STDIN-08", "an unwritten payload at the exit is not reported", "pitfall F4")
def leftover_is_forgotten():
    @replaces(run.Run)
    def look(original, self):
        # Wait a moment: the pipe breaks shortly before the kernel reports the end of its last
        # reader.
        for _ in range(200 if self.input.failure else 0):
            if self.group.leader_end():
                self.input.failure = None
                break
            select.poll().poll(1)
        return original(self)

    run.Run.final = lambda self, cause: cause
    run.Run.end_after_exit = lambda self: self.group.kill()


@fault("EXEC-STDIN-09", "SIGPIPE kills the caller", "pitfall F8: git@2226ffaacd")
def dies_of_sigpipe():
    @replaces(streams.Input)
    def write(original, self):
        # Only for long payloads, because children of many requirements leave a short one unread.
        if len(self.rest) > 65_536:
            _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGPIPE,))
        original(self)
        _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGPIPE,))


@fault("EXEC-STDIN-09", "SIGPIPE is ignored from the first failed write on", "git@c45a34e12e")
def leaves_sigpipe_ignored():
    met = []

    @replaces(streams.Input)
    def fail(original, self, number):
        met.append(number)
        original(self, number)

    @replaces(signals.Handlers)
    def release(original, self, watch):
        if met:
            _signal.signal(_signal.SIGPIPE, _signal.SIG_IGN)
        original(self, watch)


@fault("EXEC-STDIN-10", "a deadline with a payload left is a failed write", "cpython gh-87512")
def timeout_is_a_failed_write():
    @replaces(run.Run)
    def report(original, self, cause):
        if cause.name == "timeout" and self.input.rest:
            cause = run.Cause("stdin")
        return original(self, cause)


@fault("EXEC-STDIN-11", "the run waits for the writer thread before it returns", "pitfall F9")
def joins_the_writer():
    @replaces(run.Run)
    def end_after_exit(original, self):
        original(self)
        while self.input.fd >= 0:
            self.turn(None)


@fault("EXEC-STDIN-12", "the payload is written one piece per tick", "pitfall F14: git@c45a34e12e")
def throttles_the_payload():
    @replaces(streams.Input)
    def write(original, self):
        original(self)
        if self.rest:
            select.poll().poll(60)


@fault(
    "EXEC-STDIN-13", "a failed write ends the child although it is to be ignored", "one flag short"
)
def ignore_still_ends_the_child():
    @replaces(run.Run)
    def look(original, self):
        if self.input.failure and self.request.stdin_failure == "ignore":
            self.group.signal(_signal.SIGTERM)
        return original(self)


@fault("EXEC-STDIN-13", "stdin_failure is ignored", "dead options")
def ignore_is_not_read():
    @replaces(run.Run, "__init__")
    def init(original, self, request, *rest):
        request.stdin_failure = "error"
        original(self, request, *rest)


@fault(
    "EXEC-STDIN-06",
    "a deadline in the grace after a failed write replaces the result",
    "the last cause wins",
)
def deadline_takes_the_place_of_a_failed_write():
    @replaces(run.Run)
    def final(original, self, cause):
        cause = original(self, cause)
        if cause.name == "stdin" and self.deadline is not None and monotonic_ns() > self.deadline:
            return run.Cause("timeout")
        return cause


@fault(
    "EXEC-STDIN-08",
    "unwritten input is no failure if no write failed",
    "only write errors count",
)
def a_rest_is_no_failure():
    @replaces(run.Run)
    def final(original, self, cause):
        if cause.name == "exit" and self.input.rest and not self.input.failure:
            return cause
        return original(self, cause)


@fault(
    "EXEC-STDIN-06",
    "a signal in the grace after a failed write replaces the result",
    "the last cause wins",
)
def signal_takes_the_place_of_a_failed_write():
    @replaces(run.Run)
    def final(original, self, cause):
        cause = original(self, cause)
        if cause.name == "stdin" and self.watch.noted:
            return run.Cause("parent_signal", self.watch.noted.pop(0))
        return cause


@fault("EXEC-STDIN-15", "stdin is a socket, not a pipe", "Node child_process: /dev/stdin fails")
def payload_comes_through_a_socket():
    @replaces(spawn.Spawn)
    def open_stdin(original, self):
        if not isinstance(self.request.stdin, bytes):
            return original(self)
        import _socket

        ours, theirs = [end.detach() for end in _socket.socketpair()]
        self.ours.append(ours)
        self.theirs.append(theirs)
        os.set_blocking(ours, False)
        return ours, theirs


@fault("EXEC-STDIN-11", "a payload that may fail is waited for", "await drain() after the exit")
def ignored_payload_is_waited_for():
    @replaces(run.Run)
    def end_after_exit(original, self):
        original(self)
        while self.request.stdin_failure == "ignore" and self.input.fd >= 0:
            self.turn(None)


@fault("EXEC-STDIN-03", "a payload that may fail is written once", "best effort: let _ = write()")
def what_may_fail_is_written_once():
    @replaces(run.Run)
    def spawn(original, self):
        original(self)
        self.input.once = self.request.stdin_failure == "ignore"

    @replaces(streams.Input)
    def write(original, self):
        original(self)
        if getattr(self, "once", False):
            self.close()


@fault("EXEC-STDIN-10", "a payload that may fail is waited for past a deadline", "await drain()")
def ignored_payload_hides_the_deadline():
    def waits(self):
        return self.request.stdin_failure == "ignore" and self.input.fd >= 0

    @replaces(run.Run)
    def look(original, self):
        deadline = self.deadline
        self.deadline = None if waits(self) else deadline
        cause = original(self)
        self.deadline = deadline
        return cause

    @replaces(run.Run)
    def patience_ms(original, self, until):
        return 50 if waits(self) and not self.end else original(self, until)


@fault(
    "EXEC-STDIN-16",
    "the child never has the terminal, and a stop is not noticed",
    "waitpid without WUNTRACED",
)
def the_terminal_is_not_lent():
    @replaces(terminal.Terminal)
    def lend(original, self):
        return

    @replaces(terminal.Terminal)
    def check_stop(original, self, group):
        return None


@fault(
    "EXEC-STDIN-16", "a child that Ctrl-Z stopped is not continued", "WUNTRACED for SIGTTIN alone"
)
def ctrl_z_stops_for_good():
    @replaces(terminal.Terminal)
    def check_stop(original, self, group):
        return None


@fault(
    "EXEC-STDIN-17", "the terminal stays with the group of the child", "no tcsetpgrp after the wait"
)
def the_terminal_is_not_taken_back():
    @replaces(terminal.Terminal)
    def take_back(original, self):
        return


@fault("EXEC-STDIN-17", "after a failed spawn the terminal is not taken back", "an early return")
def a_failed_spawn_keeps_the_terminal():
    @replaces(terminal.Terminal)
    def take_back(original, self):
        if hasattr(self, "spawned"):
            original(self)

    @replaces(spawn.Spawn)
    def start(original, self):
        child = original(self)
        if self.terminal is not None:
            self.terminal.spawned = True
        return child
