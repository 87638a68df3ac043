"""Faults of signals to the caller during one phase of a run."""

import _signal

import exec.batch as batch
import exec.run as run
import exec.signals as signals
from faults.registry import fault, replaces


@fault("EXEC-SIGNAL-08", "a signal during the spawn is dropped", "pending = 0 after fork()")
def a_signal_during_the_spawn_is_dropped():
    @replaces(run.Run)
    def spawn(original, self):
        original(self)
        signals.handlers.collect()
        self.watch.noted.clear()


@fault("EXEC-SIGNAL-07", "a signal while the output is read to its end is dropped", "a local list")
def a_signal_during_the_drain_is_dropped():
    @replaces(run.Run)
    def drain(original, self):
        before = list(self.watch.noted)
        original(self)
        signals.handlers.collect()
        self.watch.noted[:] = before


@fault("EXEC-SIGNAL-10", "the handlers are restored at the child's exit", "restore after wait()")
def the_handlers_end_with_the_child():
    @replaces(run.Run)
    def drain(original, self):
        # The interpreter lets only the main thread change handlers, and a run has its own thread.
        import ctypes

        if len(signals.handlers.watches) == 1:
            for number, before in signals.handlers.saved:
                ctypes.CDLL(None).signal(number, before is _signal.SIG_IGN)
        original(self)


@fault("EXEC-SIGNAL-07", "signals after SIGKILL are not listed", "the loop of the wait has ended")
def signals_after_sigkill_are_not_listed():
    @replaces(run.Run)
    def kill(original, self):
        signals.handlers.collect()
        self.watch.until_kill = list(self.watch.noted)
        original(self)

    @replaces(batch.Batch)
    def finish(original, self, i, watch, answer):
        original(self, i, watch, answer)
        if isinstance(answer, dict) and hasattr(watch, "until_kill"):
            names = dict.fromkeys(signals.name_of(number) for number in watch.until_kill)
            answer["pending_signals"] = list(names)


@fault("EXEC-SIGNAL-07", "only the last of several signals is listed", "int last_signal")
def only_the_last_signal_is_listed():
    @replaces(batch.Batch)
    def finish(original, self, i, watch, answer):
        original(self, i, watch, answer)
        if isinstance(answer, dict):
            answer["pending_signals"] = answer["pending_signals"][-1:]
