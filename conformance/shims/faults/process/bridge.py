"""Faults of bridges."""

import _signal
import os
import select
from time import sleep

import process.bridge as bridge
from faults.process.parts import is_woken_by_each_signal, to_nobody, to_the_leader_alone
from faults.registry import changed, fault, replaces


@fault("PROCESS-BRIDGE-01", "stderr is dropped", "stderr=DEVNULL")
def stderr_is_dropped():
    @replaces(bridge.Relay)
    def turn(original, self, ready):
        if self.target == 2:
            self.target = -1
        return original(self, ready)


@fault("PROCESS-BRIDGE-01", "output is held until a block is full", "stdio buffering")
def output_is_held():
    @replaces(bridge.Relay)
    def interests(original, self):
        found = original(self)
        if self.target == 1 and self.rest and self.rest.endswith(b"\n") and len(self.rest) < 100:
            return []
        return found


@fault(
    "PROCESS-BRIDGE-01",
    "data that does not fit the pipe is lost",
    "write() without a check of EAGAIN",
)
def what_does_not_fit_is_lost():
    @replaces(bridge.Relay)
    def turn(original, self, ready):
        if self.rest and self.target == 1 and not os.get_blocking(1):
            try:
                os.write(1, self.rest)
            except BlockingIOError:
                pass
            self.rest = b""
            return True
        return original(self, ready)

    @replaces(bridge.Relay)
    def interests(original, self):
        if self.rest and self.target == 1 and not os.get_blocking(1):
            return [(self.target, select.POLLOUT), (self.source, select.POLLIN)]
        return original(self)


@fault("PROCESS-BRIDGE-03", "a second signal restarts the grace period", "on('SIGTERM', close)")
def a_second_signal_begins_anew():
    @replaces(bridge.Bridge)
    def escalate(original, self):
        if self.signalled and not self.killed and len(self.watch.noted) > getattr(self, "heard", 1):
            self.heard = len(self.watch.noted)
            self.signalled = False
        original(self)

    is_woken_by_each_signal()


@fault(
    "PROCESS-BRIDGE-02",
    "the end of the bridge's input is not passed on to the child",
    "one side of a relay",
)
def the_end_is_not_passed_on():
    @replaces(bridge.Bridge)
    def end_sides(original, self):
        for stream, each in enumerate(self.relays):
            if stream and each.done():
                self.process.close_stream(stream)


@fault("PROCESS-BRIDGE-03", "the grace period is five seconds", "one constant")
def five_seconds():
    @replaces(bridge.Bridge)
    def grace_ms(original, self):
        return 5_000


@fault("PROCESS-BRIDGE-03", "a signal kills the child without a grace period", "no grace at all")
def a_signal_is_a_kill():
    @replaces(bridge.Bridge)
    def grace_ms(original, self):
        return 0


@fault("PROCESS-BRIDGE-04", "there is no watcher, so the child survives the bridge", "atexit")
def nobody_watches():
    @replaces(bridge.Bridge)
    def open(original, self, guard):
        return original(self, -1)


@fault(
    "PROCESS-BRIDGE-04",
    "the watcher learns the PID only after the child has started",
    "spawn, then register",
)
def the_watcher_is_told_later():
    @replaces(bridge.Bridge)
    def open(original, self, guard):
        made = original(self, -1)
        sleep(0.3)
        os.write(guard, b"%d\n" % made.pid)
        return made


def left_in_our_group(original):
    """Start a watcher that stays in the group of its parent."""
    with changed(os, setpgid=lambda pid, group: None):
        return original()


@fault(
    "PROCESS-BRIDGE-04", "the watcher is killed together with the bridge's group", "kill -KILL %1"
)
def the_watcher_is_in_its_group():
    @replaces(bridge)
    def start_watcher(original):
        return left_in_our_group(original)


@fault("PROCESS-BRIDGE-04", "the watcher is in the bridge's group for a moment", "a busy machine")
def the_watcher_leaves_its_group_late():
    setpgid = os.setpgid

    @replaces(bridge)
    def start_watcher(original):
        return left_in_our_group(original)

    @replaces(bridge)
    def watch(original, read):
        sleep(0.3)
        setpgid(0, 0)
        original(read)


@fault("PROCESS-BRIDGE-05", "the bridge makes its own standard streams non-blocking", "event loops")
def streams_are_set_nonblocking():
    @replaces(bridge.Bridge)
    def run(original, self):
        os.set_blocking(0, False)
        os.set_blocking(1, False)
        return original(self)


@fault(
    "PROCESS-BRIDGE-06",
    "output is read without a limit while nobody reads from the bridge",
    "an unbounded queue",
)
def an_unbounded_queue():
    @replaces(bridge.Relay)
    def interests(original, self):
        found = original(self)
        if self.target == 1 and self.rest and self.source >= 0:
            found = [*found, (self.source, bridge.select.POLLIN)]
        return found

    @replaces(bridge.Relay)
    def turn(original, self, ready):
        if self.target == 1 and self.rest and ready.get(self.source, 0):
            try:
                piece = os.read(self.source, 1 << 20)
            except BlockingIOError:
                piece = b""
            self.kept = [*getattr(self, "kept", []), piece]
        elif self.target == 1 and not self.rest and getattr(self, "kept", []):
            self.rest = b"".join(self.kept)
            self.kept = []
        return original(self, ready)


@fault(
    "PROCESS-BRIDGE-01", "stderr is read only when stdout has ended", "one read() after the other"
)
def one_after_the_other():
    @replaces(bridge.Bridge)
    def relay(original, self, relays, until):
        if not self.relays[1].done():
            relays = [each for each in relays if each is not self.relays[2]]
        return original(self, relays, until)


@fault("PROCESS-BRIDGE-07", "the grace period ends when the child ends", "exit, then kill(-pgid)")
def the_grace_ends_with_the_child():
    @replaces(bridge.Bridge)
    def grace_is_used(original, self):
        return False


@fault(
    "PROCESS-BRIDGE-08",
    "after the child's end the bridge waits for the end of its own stdin",
    "cmd.Wait() with a Stdin",
)
def its_own_stdin_is_waited_for():
    @replaces(bridge.Bridge)
    def until_the_end(original, self):
        end = original(self)
        # This read ends at a signal too.
        while not self.signalled and os.read(0, bridge.CHUNK):
            pass
        return end


@fault(
    "PROCESS-BRIDGE-09",
    "a write error ends the bridge",
    "EPIPE without a listener",
)
def what_cannot_be_written_ends_it():
    @replaces(bridge.Relay)
    def turn(original, self, ready):
        held = bool(self.rest)
        moved = original(self, ready)
        if held and self.source == 0 and self.target < 0:
            raise BrokenPipeError(32, "write EPIPE")
        return moved


@fault(
    "PROCESS-BRIDGE-10",
    "after the reader closes, the child's output is still read and dropped",
    "io.Copy(io.Discard, stdout)",
)
def what_nobody_takes_is_thrown_away():
    @replaces(bridge.Relay)
    def turn(original, self, ready):
        ours = self.target in (1, 2)
        moved = original(self, ready)
        if ours and self.target < 0:
            self.target = os.open("/dev/null", os.O_WRONLY)
        return moved


@fault(
    "PROCESS-BRIDGE-11",
    "the bridge waits until every writer closes the output",
    "the event 'close', not 'exit'",
)
def the_output_is_read_to_its_end():
    @replaces(bridge.Bridge)
    def pass_the_rest_on(original, self):
        outputs = self.relays[1:]
        while not all(each.done() for each in outputs):
            self.relay(outputs, None)


@fault("PROCESS-BRIDGE-01", "only whole lines are passed on", "readline.createInterface()")
def whole_lines_only():
    @replaces(bridge.Relay)
    def interests(original, self):
        found = original(self)
        if self.rest and len(self.rest) < 100 and b"\n" not in self.rest and self.source == 0:
            return []
        return found


@fault(
    "PROCESS-BRIDGE-03",
    "a blocked write to the client delays signals",
    "process.stdout.write() and a signal",
)
def a_write_blocks():
    @replaces(bridge.Relay)
    def turn(original, self, ready):
        if self.target == 1 and self.rest:
            while self.rest:
                try:
                    self.rest = self.rest[os.write(1, self.rest) :]
                except OSError:
                    break
        return original(self, ready)


@fault(
    "PROCESS-BRIDGE-07",
    "the child gets the bridge's signal instead of SIGTERM",
    "kill(-pgid, signo)",
)
def the_signal_is_passed_on():
    @replaces(bridge.Bridge)
    def escalate(original, self):
        bridge.signals.handlers.collect()
        first = [*self.watch.noted, _signal.SIGTERM][0]
        send = self.process.signal
        self.process.signal = lambda number: send(first if number == _signal.SIGTERM else number)
        original(self)
        del self.process.signal


@fault(
    "PROCESS-BRIDGE-01", "after the child's end all output must be read within 1 s", "one deadline"
)
def one_deadline():
    @replaces(bridge.Bridge)
    def relay(original, self, relays, until):
        return original(self, relays, until) and self.process.end is None


@fault("PROCESS-BRIDGE-08", "the watcher is not reaped", "a helper without wait()")
def nobody_collects_the_watcher():
    @replaces(bridge)
    def start_watcher(original):
        guard = original()[1]
        return os.fork() or os._exit(0), guard


@fault("PROCESS-BRIDGE-12", "the bridge polls its pipes in a busy loop", "a loop without poll()")
def it_looks_and_looks():
    @replaces(bridge.Bridge)
    def relay(original, self, relays, until):
        return original(self, relays, 0)


@fault(
    "PROCESS-BRIDGE-12",
    "the bridge polls the group in a busy loop during the grace period",
    "kill(pid, 0) in a loop",
)
def it_looks_all_the_grace():
    @replaces(bridge.Bridge)
    def relay(original, self, relays, until):
        return original(self, relays, 0 if self.until is not None else until)


@fault(
    "PROCESS-BRIDGE-12",
    "after the child's end the bridge polls in a busy loop",
    "O_NONBLOCK and no poll()",
)
def it_looks_behind_the_end():
    @replaces(bridge.Bridge)
    def relay(original, self, relays, until):
        behind = self.process.reaped and not self.signalled
        return original(self, relays, 0 if behind else until)


@fault("PROCESS-BRIDGE-13", "a read error is taken for the end of the stream", "read() <= 0")
def what_cannot_be_read_has_ended():
    @replaces(bridge.Bridge)
    def expect_nothing_lost(original, self):
        pass


def continued(how):
    """Replace the SIGCONT that a bridge sends by a call of `how`."""

    @replaces(bridge.Bridge)
    def open(original, self, guard):
        made = original(self, guard)
        signal = made.signal
        made.signal = lambda number: how(made) if number == _signal.SIGCONT else signal(number)
        return made


@fault("PROCESS-BRIDGE-14", "stopped members get no SIGCONT", "only SIGTERM")
def nobody_is_continued():
    continued(to_nobody)


@fault("PROCESS-BRIDGE-14", "SIGCONT goes only to the leader", "kill(pid, SIGCONT)")
def the_leader_alone_is_continued():
    continued(to_the_leader_alone)
