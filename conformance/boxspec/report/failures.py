"""Failures that share a symptom, told once."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from boxspec.judge.record import Record
from boxspec.judge.results import Judged, Tree
from boxspec.judge.stable import stable
from boxspec.judge.verdict import Verdict
from boxspec.printable import one_line

WIDTH = 160
# Numbers of one digit or two are often what a test is about; longer ones are pids and times.
_SHORT = re.compile(r"(?<![\w.-])\d{1,2}(?![\w.])")


@dataclass
class Failures:
    """One symptom: the record that is shown, and every requirement that it broke."""

    record: Record
    judged: list[Judged] = field(default_factory=list)

    @property
    def first(self) -> Judged:
        return self.judged[0]

    def line(self) -> str:
        """All of it in one line."""
        shown = f"{self.record.verdict}: {self.record.what}: expected {self.record.expected}"
        said = one_line(f"{self.first.id} {shown}, got {self.record.got}")
        said = said if len(said) <= WIDTH else said[: WIDTH - 1] + "…"
        return f"{said} ({share(self.first)}){self.others()}"

    def others(self) -> str:
        ids = [each.id for each in self.judged[1:]]
        return f" · the same in {' '.join(ids)}" if ids else ""


def share(judged: Judged) -> str:
    """`2 of 3 tests fail`, and of one test how many of its questions."""
    told = f"{len(judged.failing)} of {len(judged.records)} tests fail"
    asked = [record.cases for record in judged.failing if record.cases]
    if asked:
        failed, of = (sum(numbers) for numbers in zip(*asked, strict=True))
        told += f", {failed} of {of} questions"
    return told


def is_partial(judged: Judged) -> bool:
    """Some of it conforms: a mistake of certain inputs, or of certain moments."""
    whole = all(each.cases is None or each.cases[0] == each.cases[1] for each in judged.failing)
    return bool(judged.failing) and not (whole and len(judged.failing) == len(judged.records))


def symptom(contract: str, record: Record) -> Hashable:
    """What two failures have in common that have one cause, as far as can be told."""
    if record.symptom:
        return contract, record.verdict, record.symptom
    return contract, record.verdict, record.what, _alike(record.expected), _alike(record.got)


def _alike(text: str) -> tuple[str, tuple[str, ...]]:
    return stable(text), tuple(_SHORT.findall(text))


def grouped(tree: Tree) -> list[Failures]:
    """The failures of a run by symptom: what the exit status depends on first, then what shows a
    requirement that no symptom before it has shown."""
    found: dict[Hashable, Failures] = {}
    every: list[Failures] = []
    for judged in _in_order(tree):
        for record in judged.failing or _of_the_kit(judged):
            # Of one requirement, what is judged is enough: its cases differ in what they expect.
            keys = symptom(judged.requirement.contract, record), (judged.id, record.what)
            group = next((found[key] for key in keys if key in found), None)
            if group is None:
                group = Failures(record)
                every.append(group)
            found.update(dict.fromkeys(keys, group))
            if judged not in group.judged:
                group.judged.append(judged)
    seen: set[str] = set()
    new: list[Failures] = []
    again: list[Failures] = []
    for group in every:
        (again if group.first.id in seen else new).append(group)
        seen.update(each.id for each in group.judged)
    return new + again


def _in_order(tree: Tree) -> Iterable[Judged]:
    return sorted(
        (each for each in tree.judged if not each.known),
        key=lambda each: (not tree.counts(each), each.requirement.level != "MUST"),
    )


def _of_the_kit(judged: Judged) -> list[Record]:
    return [each for each in judged.records if each.verdict is Verdict.HARNESS_ERROR]
