"""Group failures that have the same symptom."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from boxspec.judge.record import Record
from boxspec.judge.results import JudgedRequirement, ResultTree
from boxspec.judge.stable import stable
from boxspec.judge.verdict import Verdict

# Matches numbers of one or two digits, which often distinguish tests. Longer numbers are pids and
# times.
_SHORT = re.compile(r"(?<![\w.-])\d{1,2}(?![\w.])")


@dataclass
class Failures:
    """A group of failures with probably the same cause.

    record: the failure to show.
    judged: every requirement that fails with it.
    blocked: the ids of the requirements that cannot be decided because of the first one.
    """

    record: Record
    judged: list[JudgedRequirement] = field(default_factory=list)
    blocked: list[str] = field(default_factory=list)

    @property
    def first(self) -> JudgedRequirement:
        return self.judged[0]

    @property
    def to_repeat(self) -> list[str]:
        """Return the words after `boxspec repro` that repeat the shown failure."""
        return self.record.to_repeat if self.record.order else [self.first.id]


def share(judged: JudgedRequirement) -> str:
    """Return a text such as `2 of 3 tests fail`.

    If the tests ask several questions, the text says how many questions failed.
    """
    text = f"{len(judged.failing)} of {len(judged.records)} tests fail"
    asked = [record.cases for record in judged.failing if record.cases]
    if asked:
        failed, of = (sum(numbers) for numbers in zip(*asked, strict=True))
        text += f", {failed} of {of} questions"
    return text


def is_partial(judged: JudgedRequirement) -> bool:
    """True if some tests or questions of the requirement conform.

    The mistake then shows only for certain inputs or at certain moments.
    """
    whole = all(each.cases is None or each.cases[0] == each.cases[1] for each in judged.failing)
    return bool(judged.failing) and not (whole and len(judged.failing) == len(judged.records))


def symptom(contract: str, record: Record) -> Hashable:
    """Return a key that is equal for failures that probably have the same cause."""
    if record.symptom:
        return contract, record.verdict, record.symptom
    return (
        contract,
        record.verdict,
        record.what,
        _stable_parts(record.expected),
        _stable_parts(record.got),
    )


def _stable_parts(text: str) -> tuple[str, tuple[str, ...]]:
    return stable(text), tuple(_SHORT.findall(text))


def grouped(tree: ResultTree) -> list[Failures]:
    """Return the failures of a run, grouped by symptom.

    Failures that affect the exit status come first. A further failure of a requirement that is
    already shown comes last.
    """
    found: dict[Hashable, Failures] = {}
    every: list[Failures] = []
    blocks = _blocking(tree)
    for judged in _in_order(tree, blocks):
        for record in judged.failing or _of_the_kit(judged):
            # If tests of one requirement check the same property, they are one group, even if their
            # expected values differ.
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
        group.blocked = blocks.get(group.first.id, [])
        (again if group.first.id in seen else new).append(group)
        seen.update(each.id for each in group.judged)
    return new + again


def _in_order(tree: ResultTree, blocks: Mapping[str, Sequence[str]]) -> Iterable[JudgedRequirement]:
    """Return the requirements in the order of the report.

    Requirements that affect the exit status come first. Among them, those that block most others
    come first.
    """
    return sorted(
        (each for each in tree.judged if not each.known),
        key=lambda each: (
            not tree.counts(each),
            each.requirement.level != "MUST",
            -len(blocks.get(each.id, ())),
        ),
    )


def _blocking(tree: ResultTree) -> dict[str, list[str]]:
    """Return, for each broken requirement, the requirements that cannot be decided because of
    it."""
    found: dict[str, list[str]] = {}
    for judged in tree.judged:
        for name in judged.blocked_by:
            found.setdefault(name, []).append(judged.id)
    return found


def _of_the_kit(judged: JudgedRequirement) -> list[Record]:
    return [each for each in judged.records if each.verdict is Verdict.HARNESS_ERROR]
