"""Faults of signals to the caller during one phase of an execution."""

import _signal

import exec.signals as signals
import module.execution as execution
from faults.registry import fault, replaces


@fault(
    "MODULE-PARENT-03", "a signal during the removal ends the caller", "handlers for the run only"
)
def a_signal_during_the_removal_ends_the_caller():
    @replaces(execution.Execution)
    def remove_folder(original, self, path):
        signals.handlers.restore()
        removed = original(self, path)
        signals.handlers.install()
        return removed


@fault("MODULE-PARENT-03", "a signal stops the removal", "except KeyboardInterrupt: return")
def a_signal_stops_the_removal():
    import module.folder as folder

    @replaces(folder)
    def names(original, path):
        found = original(path)
        signals.handlers.collect()
        if any(watch.noted for watch in signals.handlers.watches):
            raise OSError(4, "Interrupted system call")
        return found

    @replaces(execution.Execution)
    def remove_folder(original, self, path):
        try:
            return original(self, path)
        except OSError:
            return False


@fault("MODULE-PARENT-01", "a signal before the module starts is dropped", "pending = 0")
def a_signal_during_set_up_is_dropped():
    @replaces(execution.RawRun)
    def spawn(original, self):
        original(self)
        signals.handlers.collect()
        self.watch.noted.clear()


@fault("MODULE-PARENT-01", "a signal that the caller ignores stays ignored", "signal() == SIG_IGN")
def an_ignored_signal_stays_ignored():
    @replaces(signals.Handlers)
    def install(original, self):
        original(self)
        for number, before in self.saved:
            if before is _signal.SIG_IGN:
                _signal.signal(number, before)
