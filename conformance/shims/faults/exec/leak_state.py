"""Faults after which the caller itself has another state than before a run."""

import _signal
import os
import resource

import exec.batch as batch
import exec.spawn as spawn
from faults.limits import raise_to_the_hard_limit
from faults.registry import fault, replaces


def after_each_batch(change):
    """Change the state of the caller when its runs have ended."""

    @replaces(batch.Batch)
    def run(original, self):
        answers = original(self)
        change(answers)
        return answers


@fault(
    "EXEC-LEAK-03", "the umask for the pipes stays set in the caller", "umask(077), no umask(old)"
)
def the_umask_stays_changed():
    @replaces(spawn.Spawn)
    def fork(original, self, stdio, report):
        try:
            return original(self, stdio, report)
        finally:
            os.umask(0o077)


@fault(
    "EXEC-LEAK-03", "the limit of open files stays raised in the caller", "as Go does for itself"
)
def the_limit_stays_raised():
    after_each_batch(lambda answers: raise_to_the_hard_limit(resource.RLIMIT_NOFILE))


@fault(
    "EXEC-LEAK-03", "signals stay blocked in the caller after a run", "pthread_sigmask(SIG_BLOCK)"
)
def signals_stay_blocked():
    after_each_batch(lambda answers: _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGALRM,)))


@fault(
    "EXEC-LEAK-03",
    "after a failed run SIGQUIT stays ignored in the caller",
    "system(3): an early return",
)
def sigquit_stays_ignored():
    def change(answers):
        if any(not isinstance(answer, dict) for answer in answers):
            _signal.signal(_signal.SIGQUIT, _signal.SIG_IGN)

    after_each_batch(change)


@fault("EXEC-LEAK-03", "after a deadline the caller has another priority", "nice() of the watchdog")
def the_priority_stays_changed():
    def change(answers):
        if any(
            isinstance(answer, dict) and answer["termination"] == "timeout" for answer in answers
        ):
            os.nice(1)

    after_each_batch(change)
