"""Faults of a child that is stopped because another run has the terminal."""

import _signal

import exec.run as run
import exec.terminal as terminal
from faults.registry import fault, replaces


@fault(
    "EXEC-STDIN-16",
    "a child that the terminal stopped gets its own stop signal as first signal",
    "end_run(signal, cause) with swapped arguments",
)
def the_stop_signal_is_sent():
    @replaces(run.Run)
    def first_signal(original, self, cause):
        if cause.name != "stop":
            return original(self, cause)
        return self.group.signal(cause.signal)


@fault(
    "EXEC-STDIN-16",
    "a stopped child is continued although another run has the terminal",
    "SIGCONT without tcsetpgrp: it stops again at once",
)
def a_stopped_child_is_only_continued():
    @replaces(terminal.Terminal)
    def check_stop(original, self, group):
        if self.lent:
            return original(self, group)
        if group.leader_stop() in terminal.DENIED:
            group.signal(_signal.SIGCONT)
        return None


@fault("EXEC-STDIN-16", "a stop by SIGTTOU is not noticed", "WSTOPSIG == SIGTTIN")
def only_sigttin_is_noticed():
    terminal.DENIED = (_signal.SIGTTIN,)


@fault(
    "EXEC-STDIN-17",
    "a terminal that a child got during the run is not taken back",
    "the flag is set at the spawn only",
)
def a_later_loan_is_forgotten():
    @replaces(terminal.Terminal)
    def lend_now(original, self, group):
        was = self.lent
        good = original(self, group)
        if good and not was:
            self.lent = False
            terminal.lender.release()
        return good
