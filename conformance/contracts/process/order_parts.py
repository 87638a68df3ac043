"""Split the order of a script that opens several processes: one part for each process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from boxspec.subject.orders.explore import Ran, Scenario
from boxspec.subject.orders.task import Note
from contracts.process.order_laws import Judged


def parts(scenario: Scenario, ran: Ran) -> Iterator[Judged]:
    """Yield the facts of each process, as if the script had opened no other one.

    A part has the steps of its handle from the `open` of the process to the next `open`. No script
    with several processes forks, so the only puppet of a part is its leader.
    """
    whole = Judged(scenario, ran)
    opens = [at for at, (step, _) in enumerate(whole.steps) if step["step"] == "open"]
    if len(opens) == 1:
        yield whole
        return
    for leader, at in zip(ran.leaders, opens, strict=True):
        handle = whole.steps[at][0]["handle"]
        later = [each for each in opens if each > at and whole.steps[each][0]["handle"] == handle]
        own = whole.steps[at : min(later, default=len(whole.steps))]
        own = [pair for pair in own if pair[0].get("handle", handle) == handle]
        threads = {step["thread"] for step, _ in own if step["step"] != "join" and "thread" in step}
        others = {pid for pid in ran.leaders if pid != leader}
        name = next(n.facts["task"].name for n in whole.of("died", "action") if _pid(n) == leader)
        notes = [_named(note, name) for note in ran.notes if _pid(note) not in others]
        part = Judged(scenario, replace(ran, leaders=[leader], notes=notes))
        part.steps = [
            (step, result)
            for step, result in own
            if step["step"] != "join" or step["thread"] in threads
        ]
        yield part


def _pid(note: Note) -> int:
    """Return the process that the note is about, or 0."""
    task = note.facts.get("task")
    pid: int = note.facts.get("pid", note.facts.get("target", task.pid if task else 0))
    return abs(pid)


def _named(note: Note, name: str) -> Note:
    """Return the note with only this name among the live puppets.

    Of two processes of one handle, which have the same name, the first has ended when the second is
    started.
    """
    if "alive" not in note.facts:
        return note
    alive = [each for each in note.facts["alive"] if each == name]
    return replace(note, facts={**note.facts, "alive": alive})
