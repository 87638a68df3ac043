"""Judge the orders of several runs at once. Each run is judged by its own events and those of the
caller."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from boxspec.subject.orders.explore import Ran, Scenario
from boxspec.subject.orders.task import Note

PUPPET_NOTES = ("action", "delivered")
# The fact of a note that contains the names of live puppets.
NAMES = "alive"


def parts(scenario: Scenario, ran: Ran) -> Iterator[tuple[Scenario, Ran]]:
    """Yield each run of a batch, as if it were the only run.

    A run without a process is left out, and also a run whose process started after a signal to the
    caller: the driver does not see whether the run had begun before the signal. The driver does not
    see the end of a run either, so the notes of a run contain no answer.
    """
    answers = ((ran.answer or {}).get("result") or {}).get("runs") or []
    pids = _pids(ran)
    for at, single in enumerate(singles(scenario)):
        own = _names(single)
        leader = next((pid for pid in ran.leaders if pids.get(pid) == own[0]), 0)
        others = {pid for pid, name in pids.items() if name not in own}
        notes = [each for note in ran.notes for each in _own(note, own, others)]
        born = next((n.step for n in notes if n.kind == "born" and n.facts["pid"] == leader), 0)
        early = any(note.kind == "signal" and note.step < born for note in notes)
        if leader and not early:
            answer = answers[at] if at < len(answers) else None
            yield single, replace(ran, notes=notes, leaders=[leader], answer=answer)


def singles(scenario: Scenario) -> list[Scenario]:
    """Return the runs of a batch, each as a scenario."""
    return [
        replace(scenario, script=script.split(), request=fields, escapes="setsid" in script)
        for script, fields in scenario.request["batch"]
    ]


def _names(single: Scenario) -> list[str]:
    forked = [word.partition(":")[2] for word in single.script if word.startswith("fork:")]
    return [single.script[0], *forked]


def _pids(ran: Ran) -> dict[int, str]:
    tasks = [note.facts["task"] for note in ran.notes if "task" in note.facts]
    return {task.pid: task.name for task in tasks if task.kind == "puppet"}


def _own(note: Note, own: list[str], others: set[int]) -> Iterator[Note]:
    """Yield the note without facts about other runs, or yield nothing if it is only about another
    run."""
    facts = note.facts
    pid = abs(facts.get("pid", facts.get("target", 0)))
    if note.kind == "answers" or pid in others:
        return
    if note.kind in PUPPET_NOTES and facts["task"].name not in own:
        return
    if NAMES in facts:
        facts = {**facts, NAMES: [name for name in facts[NAMES] if name in own]}
    yield replace(note, facts=facts)
