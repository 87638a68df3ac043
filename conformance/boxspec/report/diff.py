"""Compare two results, requirement by requirement."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from boxspec.judge.verdict import BROKEN, Verdict
from boxspec.report.formats.markdown import table, text
from boxspec.report.result import Plain, Result


@dataclass(frozen=True)
class Change:
    """The change of one requirement.

    before: verdict and reason in the first result; None if it lacks the requirement.
    after: the same for the second result.
    """

    id: str
    before: tuple[str, str] | None
    after: tuple[str, str] | None

    def line(self) -> str:
        old, new = ("not asked" if each is None else each[0] for each in (self.before, self.after))
        text = f"{self.id}  {old} -> {new}" if old != new else f"{self.id}  {new}"
        return f"{text}: {self.after[1]}" if self.after and self.after[1] else text

    def to_json(self) -> dict[str, Any]:
        def side(each: tuple[str, str] | None) -> Any:
            return None if each is None else {"verdict": each[0], "reason": each[1]}

        return {"id": self.id, "before": side(self.before), "after": side(self.after)}


@dataclass
class Diff:
    """The differences of two results.

    fixed: requirements that were broken and conform now.
    broken: requirements that were not broken and are broken now.
    changed: requirements with another verdict, or broken for another reason.
    appeared: requirements that only the second result has.
    gone: requirements that only the first result has.
    """

    old: Result
    new: Result
    fixed: list[Change] = field(default_factory=list)
    broken: list[Change] = field(default_factory=list)
    changed: list[Change] = field(default_factory=list)
    appeared: list[Change] = field(default_factory=list)
    gone: list[Change] = field(default_factory=list)

    def kinds(self) -> dict[str, list[Change]]:
        names = ("broken", "fixed", "changed", "appeared", "gone")
        return {name: getattr(self, name) for name in names}

    def closing(self) -> str:
        return " · ".join(f"{name} {len(found)}" for name, found in self.kinds().items())


def compare(old: Result, new: Result) -> Diff:
    made = Diff(old, new)
    for name in dict.fromkeys([*old.requirements, *new.requirements]):
        before, after = old.requirements.get(name), new.requirements.get(name)
        change = Change(name, _verdict_and_reason(before), _verdict_and_reason(after))
        if before is None or after is None:
            # If a new requirement is broken, it is listed with the broken ones.
            lost = made.broken if _is_broken(after) else made.appeared
            (made.gone if after is None else lost).append(change)
        elif _is_broken(before) and after["verdict"] == Verdict.CONFORMS:
            made.fixed.append(change)
        elif _is_broken(after) and not _is_broken(before):
            made.broken.append(change)
        elif before["verdict"] != after["verdict"] or _whys(old, before) != _whys(new, after):
            made.changed.append(change)
    return made


def _is_broken(each: Plain | None) -> bool:
    return each is not None and Verdict(each["verdict"]) in BROKEN


def _verdict_and_reason(each: Plain | None) -> tuple[str, str] | None:
    return None if each is None else (each["verdict"], each["reason"])


def _whys(result: Result, each: Plain) -> set[tuple[str, str]]:
    """Return the reasons why a requirement is broken, without parts that change from run to run."""
    mine = (result.tests.get(name) for name in each["failing"])
    return {(test["id"].partition("::")[2], test["why"]) for test in mine if test}


def plain(diff: Diff) -> dict[str, Any]:
    return {
        "schema": "boxspec-diff/1",
        "before": _head(diff.old),
        "after": _head(diff.new),
        **{name: [each.to_json() for each in found] for name, found in diff.kinds().items()},
    }


def _head(result: Result) -> dict[str, str]:
    return {"implementation": result.name, "started": result.started}


def markdown(diff: Diff) -> str:
    """Return the differences as Markdown for a comment on a change."""
    mark = "❌" if diff.broken else "✅"
    parts = [f"## {mark} boxspec: {text(diff.closing())}", ""]
    rows = [(each.name, each.started, each.denominators()) for each in (diff.old, diff.new)]
    parts += [*table(("", "", "conforms"), rows), ""]
    for name, found in diff.kinds().items():
        if found:
            rows_of = [(each.id, *_cells(each)) for each in found]
            parts += [f"### {name}: {len(found)}", ""]
            parts += [*table(("requirement", "before", "after", "reason"), rows_of), ""]
    return "\n".join(parts)


def _cells(change: Change) -> tuple[str, str, str]:
    old, new = (each[0] if each else "not asked" for each in (change.before, change.after))
    return old, new, (change.after or change.before or ("", ""))[1][:300]
