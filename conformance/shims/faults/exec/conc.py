"""Faults with several runs in one process."""

import _thread
import os
import select
from time import monotonic_ns

import exec.batch as batch
import exec.ops as ops
import exec.run as run
import exec.signals as signals
import exec.spawn as spawn
from faults.registry import fault, replaces


@fault("EXEC-CONC-01", "a lock is held while a child is waited for", "ADR-009 read literally")
def lock_over_the_wait():
    lock = _thread.allocate_lock()

    @replaces(run.Run)
    def result(original, self):
        with lock:
            return original(self)


@fault("EXEC-CONC-01", "runs wait one after the other for their children", "one waiter at a time")
def lock_over_the_wait_alone():
    lock = _thread.allocate_lock()

    @replaces(run.Run)
    def await_cause(original, self):
        with lock:
            return original(self)


class Deaf(list[int]):
    """A list of received signals that drops each of them."""

    def extend(self, numbers):
        pass


@fault("EXEC-CONC-02", "only one of several runs gets the signal", "pitfall H13: one slot")
def one_run_gets_the_signal():
    @replaces(signals.Handlers)
    def acquire(original, self):
        watch = original(self)
        if self.watches[0] is not watch:
            watch.noted = Deaf()
        return watch


@fault(
    "EXEC-CONC-03", "the first run that ends restores the signal handlers", "ADR-009: a guard each"
)
def first_end_restores():
    @replaces(signals.Handlers)
    def release(original, self, watch):
        self.restore()
        original(self, watch)


@fault(
    "EXEC-CONC-04",
    "pipes can be inherited by a child that starts at the same time",
    "pitfall C2: ducktape#140",
)
def siblings_share_pipes():
    @replaces(spawn.Spawn)
    def open_output(original, self):
        ends = original(self)
        os.set_inheritable(ends[1], True)
        return ends

    @replaces(spawn.Spawn)
    def place(original, self, stdio):
        original(self, stdio)
        self.close([fd for fd in stdio if fd > 2])

    @replaces(spawn.Spawn)
    def fork(original, self, stdio, report):
        pid = original(self, stdio, report)
        select.poll().poll(5)
        return pid


@fault("EXEC-CONC-05", "there is a limit of 32 runs at a time", "pitfall J6")
def table_of_32():
    @replaces(batch.Batch)
    def run(original, self):
        answers = original(self)
        if len(answers) == 64:
            answers[32:] = answers[:32]
        return answers


@fault("EXEC-CONC-06", "all runs of the process share one deadline", "a static variable")
def one_deadline_for_all():
    deadlines: list[int] = []

    def read(self):
        return deadlines[0] if deadlines and len(signals.handlers.watches) == 3 else None

    def write(self, value):
        if value is not None:
            deadlines[:] = [min([*deadlines, value])]

    def own_or_shared(self):
        own = vars(self).get("own_deadline")
        return read(self) or own

    def keep(self, value):
        vars(self)["own_deadline"] = value
        write(self, value)

    run.Run.deadline = property(own_or_shared, keep)


@fault("EXEC-CONC-07", "a flag of an earlier run is not cleared", "a static bool timed_out")
def one_flag_for_all():
    timed_out = []

    @replaces(run.Run)
    def report(original, self, cause):
        answer = original(self, cause)
        if cause.name == "timeout" and self.request.timeout_ms == 150:
            timed_out.append(True)
        elif timed_out and self.request.timeout_ms is None:
            answer["success"], answer["exit_code"] = False, None
        return answer


@fault(
    "EXEC-CONC-07", "a run gets the signals of the earlier run in its slot", "a pool without reset"
)
def slots_keep_their_signals():
    noted: list[int] = []

    @replaces(signals.Handlers)
    def acquire(original, self):
        watch = original(self)
        watch.noted += noted
        return watch

    @replaces(signals.Handlers)
    def release(original, self, watch):
        original(self, watch)
        noted[:] = watch.told

    @replaces(run.Run)
    def report(original, self, cause):
        self.watch.told = [cause.signal] if cause.signal else []
        return original(self, cause)

    signals.Watch.told = ()  # type: ignore[attr-defined]


@fault("EXEC-CONC-07", "a signal of one run ends the next run", "cleared where it is consumed")
def a_signal_waits_for_the_next_run():
    left: list[int] = []

    @replaces(signals.Handlers)
    def acquire(original, self):
        watch = original(self)
        watch.noted += left
        left.clear()
        return watch

    @replaces(batch.Batch)
    def finish(original, self, i, watch, answer):
        original(self, i, watch, answer)
        left[:] = watch.noted


@fault("EXEC-CONC-07", "secrets are collected at the first run only", "a list that is made once")
def secrets_of_the_first_run():
    collected: list[object] = []

    @replaces(run)
    def secrets(original, *environments):
        if not collected:
            collected.append(original(*environments))
        return collected[0]


@fault("EXEC-CONC-07", "the timer of a finished run ends another run", "setitimer, alarm")
def timers_outlive_their_runs():
    left: list[int] = []

    @replaces(run.Run)
    def begin_deadline(original, self):
        self.born = monotonic_ns()
        original(self)

    @replaces(run.Run)
    def report(original, self, cause):
        if cause.name == "exit" and self.deadline is not None:
            left.append(self.deadline)
        return original(self, cause)

    @replaces(run.Run)
    def look(original, self):
        if self.deadline is None and any(self.born < at <= monotonic_ns() for at in left):
            return run.Cause("timeout")
        return original(self)


@fault(
    "EXEC-CONC-07", "after a run with debug every later run is copied", "a flag that is set once"
)
def debug_is_for_all():
    asked = []

    @replaces(run.Run)
    def spawn(original, self):
        asked.extend([True] * self.request.debug)
        self.request.debug = bool(asked)
        original(self)


@fault("EXEC-CONC-02", "only 64 runs get the signal", "a bit of a word for each run")
def sixty_four_runs_get_the_signal():
    @replaces(signals.Handlers)
    def acquire(original, self):
        watch = original(self)
        if len(self.watches) > 64:
            watch.noted = Deaf()
        return watch


@fault("EXEC-CONC-01", "a pool of threads reads and writes for all", "asyncio's executor: cpus + 4")
def small_pool_reads_for_all():
    def waits(self):
        return not self.end and self.watch not in signals.handlers.watches[:20]

    @replaces(run.Run)
    def interests(original, self):
        pipes = {self.input.fd, *(output.fd for output in self.outputs)} if waits(self) else set()
        yield from (pair for pair in original(self) if pair[0] not in pipes)

    @replaces(run.Run)
    def patience_ms(original, self, until):
        patience = original(self, until)
        return patience if not waits(self) else 50 if patience is None else min(50, patience)


@fault("EXEC-CONC-07", "a run without arguments gets those of the run before", "def run(args=[])")
def arguments_are_kept():
    kept: list[bytes] = []

    @replaces(ops)
    def read_request(original, value, pointer="/request"):
        request = original(value, pointer)
        kept[:] = request.args = request.args or list(kept)
        return request


@fault("EXEC-CONC-07", "stdin_failure=ignore of one run applies to all", "an option of the module")
def each_payload_may_fail():
    asked = []

    @replaces(ops)
    def read_request(original, value, pointer="/request"):
        request = original(value, pointer)
        asked.extend([True] * (request.stdin_failure == "ignore"))
        request.stdin_failure = "ignore" if asked else "error"
        return request


@fault(
    "EXEC-CONC-03",
    "a run that fails to start restores the handlers of the others",
    "cleanup() of an early return",
)
def a_failure_restores():
    @replaces(batch.Batch)
    def finish(original, self, i, watch, answer):
        if not isinstance(answer, dict):
            signals.handlers.restore()
        original(self, i, watch, answer)
