"""Run the implementation and its children under the tracer, with their events in a chosen order.

The processes of a world run one at a time. A thread of the implementation stops at each system call
of calls.py. A child is a `puppet` (fixtures/programs/puppet.c), which stops before each of its
actions. At a stop the world offers a decision: one of the events that are possible now happens, or
the thread makes its system call.

The implementation reads the clock of the order. The driver makes each wait with a time limit of
zero. If no descriptor is ready, the implementation is blocked. Then only an event, or the end of
the limit on the clock of the order, resumes it. So five seconds of grace take no time, and the load
of the machine has no effect.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from boxspec.subject.observe import procs
from boxspec.subject.orders import calls
from boxspec.subject.orders.clock import MS
from boxspec.subject.orders.observer import QUIET
from boxspec.subject.orders.steps import Steps
from boxspec.subject.orders.task import Event, Line, Task, due_at, ends, in_words, pending

MOST_STEPS = 40_000
MOST_TIME_MS = 2_000_000

# A function that makes one decision: it returns the event that happens now, or None for no event.
# Its arguments are the number of the decision, the possible events, and the event that happens at
# this decision in an order without choices.
Decide = Callable[[int, Sequence[Event], Event | None], Event | None]


class World(Steps):
    def __init__(
        self,
        argv: Sequence[str],
        request: str,
        response: str,
        puppet: str,
        *,
        caller_signals: Sequence[str] = (),
        deadline_ms: int | None = None,
        adopts: bool = False,
    ) -> None:
        super().__init__(argv, request, response, puppet, adopts=adopts)
        self.decisions = 0
        self.steps = 0
        self.signals_left = list(caller_signals)
        self.deadline_ms = deadline_ms
        self.hung: str | None = None
        self.last: Task | None = None

    # ---- The loop ----

    def run(self, decide: Decide) -> None:
        """Run until the implementation has exited."""
        try:
            while self.exit_status is None and self.hung is None:
                self.settle()
                if self.exit_status is not None:
                    break
                self._turn(decide)
        finally:
            self._end()

    def _turn(self, decide: Decide) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS or self.clock.now > MOST_TIME_MS * MS:
            self.hung = "it did not return"
            return
        for task in self.tasks.values():
            if task.state == "exit" and task.then is not None:
                then, task.then = task.then, None
                then()
                return
        actor = self._actor()
        if actor is not None:
            # Usually an event happens only while the implementation is blocked. An implementation
            # that polls is never blocked. For it the first event happens after very many reads of
            # the clock.
            spins = self.clock.polled
            if not (self._is_point(actor) and self._decide(decide, blocked=False, usual=spins)):
                # A signal may end the implementation while one of its threads is held.
                with contextlib.suppress(ProcessLookupError):
                    self._step(actor)
            return
        if self.waits.probe_stale():
            return
        if not self._decide(decide, blocked=True, usual=True):
            self.hung = "it waits, and nothing is left that could end its wait"

    def _decide(self, decide: Decide, *, blocked: bool, usual: bool) -> bool:
        """Offer the possible events, and return True if one happened.

        While the implementation is blocked, several events may happen before it continues. It then
        notices all of them at once.
        """
        self.batch += 1
        if blocked:
            alive = [task.name for task in self.members()]
            late = [task.late for task in self.tasks.values() if task.blocked]
            self._note("waits", alive=alive, late=max(late, default=0))
        if not self._offer(decide, usual=usual):
            return False
        while blocked and self._offer(decide, usual=False):
            pass
        self.waits.probe(list(self.tasks.values()))
        return True

    def _offer(self, decide: Decide, *, usual: bool) -> bool:
        """Let one event happen.

        usual: True if the first event happens unless the order chooses another one.
        """
        events = list(self._events(waits=usual and not self._actor()))
        if not events or self.exit_status is not None:
            return False
        if self.answered:
            # Events between the answer and the exit are not part of an order.
            return usual and self._fire(events[0])
        number = self.decisions
        self.decisions += 1
        event = decide(number, events, events[0] if usual else None)
        if event is None:
            return False
        self.lines.append(Line(self.clock.now, "event", event.text, number))
        return self._fire(event)

    def _fire(self, event: Event) -> bool:
        self.clock.reads = 0
        event.fire()
        self.settle()
        return True

    def _ready(self) -> list[Task]:
        """Return the threads of the implementation that can go on, the oldest first."""
        return [
            task
            for task in self.tasks.values()
            if task.kind != "puppet" and task.state == "held" and not task.blocked
        ]

    def _actor(self) -> Task | None:
        """Return the thread that continues: the one that ran last if it can, else the oldest."""
        ready = self._ready()
        if self.last in ready:
            return self.last
        self.last = ready[0] if ready else None
        return self.last

    def _events(self, *, waits: bool) -> Iterator[Event]:
        puppets = [t for t in self.tasks.values() if (t.kind, t.state) == ("puppet", "puppet")]
        # The end of a puppet comes after the other actions. So in an order without choices, all
        # processes of a scenario exist at once.
        for task in sorted(puppets, key=lambda task: ends(task.action)):
            yield from self._puppet_events(task)
        for name, at in self._next_signal():
            # An implementation may install its handlers before the run, or have none. So a signal
            # may arrive once a handler is installed or a child runs.
            is_run = bool(self.handlers) or self._started() is not None
            if is_run and not self.answered and self.clock.now >= at:
                yield Event(name, f"the caller receives SIG{name}", partial(self._signal, name))
        if len(ready := self._ready()) > 1 and self.last in ready:
            after = ready[(ready.index(self.last) + 1) % len(ready)]
            yield Event("switch", f"{after.who} goes on", partial(self._switch, after))
        yield from self._time_events(waits=waits)

    def _next_signal(self) -> Iterator[tuple[str, int]]:
        """Yield the next signal to the caller, and the time before which it must not arrive."""
        for word in self.signals_left[:1]:
            name, _, ms = word.partition("@")
            yield name, int(ms or 0) * MS

    def _step(self, task: Task) -> None:
        others = [each for each in self._ready() if each is not task]
        if calls.waits_for_a_thread(task.regs) and others:
            # A thread may wait for another one in a loop, so another thread continues.
            self.last = others[0]
        super()._step(task)

    def _switch(self, task: Task) -> None:
        self.last = task

    def _puppet_events(self, task: Task) -> Iterator[Event]:
        signals = pending(task, "SigBlk", "SigIgn") - QUIET
        if signals:
            name = signal.Signals(min(signals)).name
            yield Event(
                f"{task.name}~{name[3:]}",
                f"{name} is delivered to {task.name}",
                lambda: self.resume(task),
            )
        elif task.action != "wait" and self.clock.now >= due_at(task.action) * MS:
            yield Event(
                task.name, f"{task.name}: {in_words(task.action)}", lambda: self._release(task)
            )

    def _time_events(self, *, waits: bool) -> Iterator[Event]:
        """Yield the event that time passes, up to the end of the next limit.

        If the implementation does not wait, the passing time is a delay of the implementation.
        """
        wakes = [task.wake for task in self.tasks.values() if task.blocked and task.wake]
        puppets = [task for task in self.tasks.values() if task.state == "puppet"]
        timed = [due_at(task.action) * MS for task in puppets]
        # Before the first child starts, a delay would not be part of the run.
        if self._started() is not None:
            timed += [at for _, at in self._next_signal()]
        if not wakes and not self._actor() and not any(timed):
            return
        due = timed + (wakes or [self._deadline() or 0, self.waits.last_wake or 0])
        ahead = [at for at in due if at > self.clock.now]
        if ahead:
            at = min(ahead)
            ms = (at - self.clock.now + MS - 1) // MS
            yield Event("time", f"{ms:,} ms pass", partial(self._pass, at, blocked=waits))

    def _deadline(self) -> int | None:
        start = self._started()
        if start is None or self.deadline_ms is None:
            return None
        return start + self.deadline_ms * MS

    def _started(self) -> int | None:
        """Return the start time of the first child, or None if no child has started."""
        return next((note.at for note in self.notes if note.kind == "starts"), None)

    def _pass(self, until: int, *, blocked: bool) -> None:
        ms = (until - self.clock.now) // MS
        self.clock.now = max(self.clock.now, until)
        self._note("time", ms=ms, blocked=blocked)

    def _signal(self, name: str) -> None:
        self.signals_left.pop(0)
        number = signal.Signals["SIG" + name]
        # If the implementation is held at a call of sigaction, the call takes effect before the
        # signal arrives.
        held = any(
            task.state == "held"
            and task.pid == self.root
            and (task.regs.orig_rax, task.regs.rdi) == (calls.RT_SIGACTION, number)
            for task in self.tasks.values()
        )
        self._note_signal(number, held=held, sent=True)
        os.kill(self.root, number)

    def _note_signal(self, number: int, *, held: bool, sent: bool) -> None:
        """Note a signal to the caller.

        held: True if the implementation is about to change its handler for this signal.
        """
        alive = [task.name for task in self.members()]
        caught = number in procs.Status(self.root, str(self.root)).mask("SigCgt")
        # An implementation installs its handler once for the run and restores the old one once.
        # Some runtimes have a handler from the start of the process, and a shell changes it often;
        # for them the handler counts as long as a child lives.
        changes = self.handlers.get(number, 0) + held
        handled = (changes % 2 == 1 or bool(alive)) and (caught or held)
        self._note("signal", signal=number, handled=handled, alive=alive, sent=sent)

    def _deliver(self, task: Task, signo: int) -> None:
        threads = sum(
            each.pid == self.root and each.state != "dead" for each in self.tasks.values()
        )
        # A signal that the implementation sends to itself is not noted again.
        sent = [
            note
            for note in self.notes
            if note.kind == "signal" and note.facts["signal"] == signo and note.facts["sent"]
        ]
        if task.pid == self.root and threads > 1 and sent:
            # Other threads may have continued since the signal was sent, so the signal counts from
            # its delivery.
            sent[0].kind = "sent signal"
            self._note_signal(signo, held=False, sent=False)
        super()._deliver(task, signo)

    def _release(self, task: Task) -> None:
        self._note("action", task=task, action=task.action, name=task.name)
        self.skip(task, 1)
        self.resume(task)
