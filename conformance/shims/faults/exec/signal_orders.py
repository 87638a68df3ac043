"""Faults of a signal at one moment before the child runs. Only a forced order meets this moment."""

import os

import exec.batch as batch
import exec.run as run
import exec.signals as signals
from faults.registry import fault, replaces


@fault("EXEC-SIGNAL-08", "a signal just before the spawn is dropped", "flag = 0", role="order")
def a_signal_just_before_the_spawn_is_dropped():
    @replaces(run.Run)
    def spawn(original, self):
        signals.handlers.collect()
        self.watch.noted.clear()
        original(self)


@fault(
    "EXEC-SIGNAL-01",
    "a signal in a spawn that fails is kept, and sent again after the run",
    "raise(pending) in a finally block",
    role="order",
)
def a_signal_in_a_failed_spawn_is_sent_again():
    @replaces(batch.Batch)
    def finish(original, self, i, watch, answer):
        original(self, i, watch, answer)
        if not isinstance(answer, dict) and "failed to spawn" in answer.message and watch.noted:
            os.kill(os.getpid(), watch.noted[0])


@fault("EXEC-SIGNAL-09", "the handlers stay if a signal prevents the spawn", "return", role="order")
def a_run_without_a_child_keeps_the_handlers():
    @replaces(run.Run)
    def result(original, self):
        told = original(self)
        self.watch.childless = not self.outputs
        return told

    @replaces(batch.Batch)
    def finish(original, self, i, watch, answer):
        if getattr(watch, "childless", False):
            signals.handlers.saved = []
        original(self, i, watch, answer)
