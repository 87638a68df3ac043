"""Faults of a second signal, and of a caller that is killed."""

import _signal

import exec.run as run
import exec.signals as signals
import module.execution as execution
import module.runner as runner
from faults.registry import fault, replaces


@fault("MODULE-PARENT-04", "a second signal kills the module", "press Ctrl-C again to force")
def a_second_signal_kills():
    interrupted = [False]

    @replaces(run.Run)
    def turn(original, self, until):
        ready = original(self, until)
        if interrupted[0] and self.watch.noted:
            self.group.kill()
        return ready

    @replaces(run.Run)
    def terminate(original, self, cause):
        interrupted[0] = cause.name == "parent_signal"
        original(self, cause)


@fault(
    "MODULE-PARENT-02",
    "if the caller is killed the module gets only SIGTERM",
    "PR_SET_PDEATHSIG, politely",
)
def a_killed_caller_sends_sigterm():
    class Signals:
        SIGKILL = _signal.SIGTERM

    runner._signal = Signals


@fault("MODULE-PARENT-05", "after an error the handlers stay installed", "release only a success")
def handlers_stay_after_an_error():
    @replaces(execution.Execution)
    def judge(original, self, ended, noted):
        try:
            return original(self, ended, noted)
        except execution.Failure:
            signals.handlers.acquire().waker.close()  # no descriptor, only the handlers
            raise
