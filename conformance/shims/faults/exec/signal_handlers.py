"""Faults of the handlers for signals to the caller: their installation and their removal."""

import _signal
import select

import exec.batch as batch
import exec.signals as signals
import exec.spawn as spawn
from errors import Failed
from faults.registry import fault, replaces


@fault("EXEC-SIGNAL-05", "only the first signal is handled", "pitfall H6: SA_RESETHAND")
def handler_works_once():
    def late(number, frame):
        for handled in signals.HANDLED:
            _signal.signal(handled, _signal.SIG_DFL)

    def first(number, frame):
        # Not at once: further signals of a series would then meet the default action, which is
        # another requirement.
        _signal.signal(_signal.SIGALRM, late)
        _signal.setitimer(_signal.ITIMER_REAL, 0.3)

    def install(self):
        _signal.set_wakeup_fd(self.write_fd, warn_on_full_buffer=False)
        for number in signals.HANDLED:
            self.saved.append((number, _signal.signal(number, first)))

    signals.Handlers.install = install


@fault(
    "EXEC-SIGNAL-08", "handlers are installed after the spawn", "pitfall H9: coreutils@ab4ffc850"
)
def handlers_after_the_spawn():
    install = signals.Handlers.install
    signals.Handlers.install = lambda self: None
    spawned = []
    batches: list[batch.Batch] = []  # holds only the latest batch

    @replaces(spawn.Spawn)
    def fork(original, self, stdio, report):
        pid = original(self, stdio, report)
        # The delay widens the gap without handlers, so that a signal at a random moment falls into
        # it. Runs that share the handlers get no delay.
        select.poll().poll(15 if len(batches[0].items) == 1 else 0)
        spawned.append(pid)
        batches[0].waker.wake()
        return pid

    @replaces(spawn.Spawn)
    def child(original, self, stdio, report):
        # simulates a slow exec, so that the child gets the signal before its handlers are installed
        select.poll().poll(14)
        original(self, stdio, report)

    @replaces(batch.Batch)
    def run(original, self):
        batches[:] = [self]
        return original(self)

    @replaces(batch.Batch)
    def wait(original, self, patience_ms):
        original(self, patience_ms)
        if spawned and not signals.handlers.saved:
            install(signals.handlers)


@fault(
    "EXEC-SIGNAL-09",
    "the signal handlers stay installed after the run",
    "pitfall H11: libuv@b9421d706",
)
def handlers_stay():
    @replaces(signals.Handlers)
    def restore(original, self):
        if all(previous is not _signal.SIG_IGN for _, previous in self.saved):
            self.saved.clear()
        original(self)


@fault(
    "EXEC-SIGNAL-09",
    "the signal handlers stay installed after an error",
    "pitfall H11: the early return",
)
def an_error_leaves_the_handlers():
    @replaces(batch.Batch)
    def finish(original, self, i, watch, answer):
        if not isinstance(answer, dict) and len(self.items) == 1:
            signals.handlers.saved.clear()
        original(self, i, watch, answer)


@fault("EXEC-SIGNAL-09", "the handlers stay installed after a cap", "a separate exit path")
def a_cap_leaves_the_handlers():
    @replaces(batch.Batch)
    def finish(original, self, i, watch, answer):
        if isinstance(answer, dict) and answer["truncated"] and len(self.items) == 1:
            signals.handlers.saved.clear()
        original(self, i, watch, answer)


@fault(
    "EXEC-SIGNAL-10", "signals that the caller ignores stay ignored", "pitfall H12: nohup habits"
)
def ignored_stays_ignored():
    def install(self):
        _signal.set_wakeup_fd(self.write_fd, warn_on_full_buffer=False)
        for number in signals.HANDLED:
            if _signal.getsignal(number) is not _signal.SIG_IGN:
                self.saved.append((number, _signal.signal(number, lambda n, f: None)))

    signals.Handlers.install = install


@fault(
    "EXEC-SIGNAL-10",
    "a signal that the caller ignores is no longer ignored after the run",
    "pitfall H12",
)
def ignored_becomes_default():
    @replaces(signals.Handlers)
    def restore(original, self):
        self.saved = [(number, _signal.SIG_DFL) for number, _ in self.saved]
        original(self)


@fault("EXEC-SIGNAL-13", "a failed sigaction is ignored", "pitfall H22")
def failed_installation_is_not_noticed():
    @replaces(signals.Handlers)
    def install(original, self):
        try:
            original(self)
        except OSError:
            pass

    @replaces(spawn.Spawn)
    def reset_signals(original, self):
        try:
            original(self)
        except OSError:
            pass


@fault("EXEC-SIGNAL-13", "a failed installation is not rolled back", "pitfall H22")
def failed_installation_is_not_rolled_back():
    @replaces(signals.Handlers)
    def install(original, self):
        try:
            original(self)
        except OSError:
            self.saved.clear()
            raise


@fault(
    "EXEC-SIGNAL-09",
    "each run restores the handlers that it found",
    "ADR-009: each with a guard of its own",
)
def each_restores_what_it_found():
    @replaces(signals.Handlers)
    def acquire(original, self):
        if self.watches:
            # If several runs overlap, the last one to end restores the handler of another run.
            found = [(number, _signal.getsignal(number)) for number in signals.HANDLED]
            watch = original(self)
            watch.found = found
            return watch
        return original(self)

    @replaces(signals.Handlers)
    def release(original, self, watch):
        last = len(self.watches) == 1
        original(self, watch)
        if last and watch.found:
            for number, handler in watch.found:
                _signal.signal(number, handler)

    signals.Watch.found = None  # type: ignore[attr-defined]


@fault("EXEC-SIGNAL-09", "after a wait error the handlers stay", "`?` before the restore")
def a_wait_error_keeps_the_handlers():
    @replaces(batch.Batch)
    def finish(original, self, i, watch, answer):
        if isinstance(answer, Failed) and "wait timeout error" in answer.message:
            self.active -= 1
            self.answers[i] = answer
        else:
            original(self, i, watch, answer)
