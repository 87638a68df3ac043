"""Give each row a verdict, by comparing the starts with and without the command."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

from boxspec.verify.outcome import Both, Key, Outcome, Tried
from boxspec.verify.result import Verdict
from boxspec.verify.row import Row, Status
from boxspec.verify.surroundings import shown


def verdicts(
    rows: Sequence[Row],
    probes: Mapping[str, Both],
    shell: Both,
    absent: Both,
    witnesses: Sequence[Row] = (),
    again: Outcome | None = None,
    others: Outcome | None = None,
) -> list[Verdict]:
    """Return the verdict on each row, in the order of the table.

    probes: the results of the attempts, by id of the row.
    absent: the results of the start without the places of the rules.
    witnesses: rows that show whether the command confines anything, and whether it confines a shell
        and each start. Rows that the caller has not asked get no verdict.
    again: one more start of the probe program, if no shell ran inside, or if all other starts have
        words that a command may recognise. A sandbox may have no shell, but if this start ran no
        program either, only the first start may be confined.
    others: the attempts with other variables, if they turn the sandbox off.
    """
    found = [_with_absent(_verdict(row, probes[row.id], shell), absent) for row in rows]
    if others is not None and others.ran:
        found = [_with_others(each, others) for each in found]
    asked = {row.id for row in rows}
    unasked = [row for row in witnesses if row.id not in asked]
    off = f"{_OFF} {shown(os.environ)}" if others is not None and others.ran else ""
    doubted = off or _doubted([*rows, *unasked], probes, shell)
    for row in rows:
        escaped = _unconfined(witnesses, probes, probes[row.id].inside)
        if row.planted and escaped:
            found = [_switched_off(each, escaped) if each.row is row else each for each in found]
        elif escaped:
            doubted = doubted or _SOME_STARTS.format(row.title)
    if _unconfined(witnesses, probes, absent.inside):
        doubted = doubted or _SOME_STARTS.format("the start without the path of a rule")
    if again is not None and not again.ran:
        doubted = doubted or f"only the first start ran its program: {again.problem}"
    elif again is not None and _unconfined(witnesses, probes, again):
        doubted = doubted or _SOME_STARTS.format("a further start")
    if doubted:
        found = [_doubt(each, doubted) for each in found]
    of_unasked = [_verdict(row, probes[row.id], shell) for row in unasked]
    if _confines_nothing([*found, *of_unasked]):
        why = "the command prevented nothing else, and this row is held without a sandbox too"
        found = [_doubt(each, why) if _is_weak_evidence(each.row) else each for each in found]
    order = list(Status)
    return sorted(found, key=lambda each: (order.index(each.status), -each.row.weight))


_OFF = "the command confines nothing"
_SOME_STARTS = "the command confines one start and not another, see {}"


def _unconfined(
    witnesses: Sequence[Row], probes: Mapping[str, Both], start: Outcome
) -> tuple[str, ...]:
    """Return the effects of the witnesses in this start that did not occur in the first start."""
    return tuple(
        each for row in witnesses for each in unconfined([row], probes[row.id].inside, start)
    )


def unconfined(witnesses: Sequence[Row], first: Outcome, start: Outcome) -> tuple[str, ...]:
    found: list[str] = []
    for row in witnesses:
        if first.ran and first.of(row) and not _effects(first.of(row)):
            found += _effects(start.of(row))
    return tuple(found)


def _with_others(verdict: Verdict, others: Outcome) -> Verdict:
    """Add the effects that the attempts had with other variables of the environment."""
    effects = [f"{each} ({shown(os.environ)})" for each in _effects(others.of(verdict.row))]
    if not effects or verdict.row.allowed or verdict.status is Status.LEAKED:
        return verdict
    return replace(verdict, status=Status.LEAKED, evidence=tuple(effects))


def _switched_off(verdict: Verdict, effects: Sequence[str]) -> Verdict:
    """Return the verdict on planted files if the start after planting was not confined."""
    how = "after a program inside had made the files that the command looks up"
    known = verdict.evidence if verdict.status is Status.LEAKED else ()
    evidence = (*known, *(f"{each}, {how}" for each in effects))
    return replace(verdict, status=Status.LEAKED, evidence=evidence)


def _is_weak_evidence(row: Row) -> bool:
    """True if a held row proves little.

    Either the row is usually held without a sandbox too, or only one start in one folder was made.
    """
    return row.passes_without_sandbox or row.apart


def _confines_nothing(found: Sequence[Verdict]) -> bool:
    """True if no row proves a confinement.

    A row can prove one only if it is usually not held without a sandbox. Of these rows at least one
    leaked, and none is held.
    """
    proofs = [each for each in found if not each.row.allowed and not _is_weak_evidence(each.row)]
    statuses = {each.status for each in proofs}
    return Status.LEAKED in statuses and Status.HELD not in statuses


def _doubted(rows: Sequence[Row], probes: Mapping[str, Both], shell: Both) -> str:
    """Return a reason if a shell had effects that the probe program did not have, otherwise "".

    Then the command confines one program but not another, so a refused attempt proves little.
    """
    for row in rows:
        inside = probes[row.id].inside
        kept_out = inside.of(row) and not _effects(inside.of(row))
        if not row.allowed and kept_out and inside.ran and _effects(shell.inside.of(row)):
            return f"the command confines one program and not another, see {row.title}"
    return ""


def _with_absent(verdict: Verdict, absent: Both) -> Verdict:
    """Add the observations of the start in which the place of the rule did not exist."""
    row = verdict.row
    if not row.absent or row.cannot:
        return verdict
    effects = [f"{each} (no such path at the start)" for each in _effects(absent.inside.of(row))]
    if effects:
        known = verdict.evidence if verdict.status is Status.LEAKED else ()
        return replace(verdict, status=Status.LEAKED, evidence=(*known, *effects))
    if absent.inside.problem and verdict.status is Status.HELD:
        note = f"without the path it does not start: {absent.inside.problem}"
        return replace(verdict, evidence=(*verdict.evidence, note))
    return verdict


def _doubt(verdict: Verdict, why: str) -> Verdict:
    if verdict.status is not Status.HELD or verdict.row.allowed:
        return verdict
    return Verdict(verdict.row, Status.NOT_TESTED, (why,), verdict.attempts)


def _effects(*outcomes: Mapping[Key, Tried]) -> tuple[str, ...]:
    """Return each observed effect once, with the way by which an attempt had it.

    If one attempt had the effect by simply opening the object, no way is named. Attempts on one
    object share its effects, so only the attempts that report success count, if there are any.
    """
    ways: dict[str, list[Tried]] = {}
    for tried in outcomes:
        for each in tried.values():
            for effect in each.effects:
                ways.setdefault(effect, []).append(each)
    found = {}
    for effect, tries in ways.items():
        done = [each.way for each in tries if each.record is None or _outcome(each) == "did"]
        found[effect] = done or [each.way for each in tries]
    return tuple(
        effect if "" in names else f"{effect} ({names[0]})" for effect, names in found.items()
    )


def _verdict(row: Row, probes: Both, shell: Both) -> Verdict:
    if row.cannot:
        return Verdict(row, Status.NOT_TESTED, (row.cannot,))
    for outcome in (probes.control, probes.inside):
        if row.id in outcome.cannot:
            return Verdict(row, Status.NOT_TESTED, (outcome.cannot[row.id],))
    if row.allowed:
        return _works(row, probes, shell)
    return _is_kept_out(row, probes, shell)


def _works_without(tried: Tried | None) -> bool:
    """True if the attempt had its effect without the command, and its program reported the
    effect."""
    if tried is None or not tried.effects:
        return False
    return tried.record is None or tried.record.result.outcome == "did"


def _is_kept_out(row: Row, probes: Both, shell: Both) -> Verdict:
    effects = _effects(probes.inside.of(row), shell.inside.of(row))
    control = probes.control.of(row)
    counted = {key for key, each in control.items() if _works_without(each)}
    if effects:
        return Verdict(row, Status.LEAKED, effects, len(counted))
    # The shell may be missing in the sandbox, so its failure is ignored. But if the command hangs,
    # missing effects are no evidence.
    problem = probes.inside.problem or (shell.inside.problem if shell.inside.hangs else "")
    if problem:
        return Verdict(row, Status.NOT_TESTED, (problem,))
    if not counted:
        outcomes = {f"{each.shown}: {_result_of(each)}" for each in control.values()}
        why = f"without the command nothing happens either: {'; '.join(sorted(outcomes)[:2])}"
        return Verdict(row, Status.NOT_TESTED, (probes.control.problem or why,))
    for key in counted:
        why = _unproven(probes.inside.tried.get(key))
        if why:
            return Verdict(row, Status.NOT_TESTED, (why,), len(counted))
    doubts = [each.doubt for each in probes.inside.of(row).values() if each.doubt]
    if doubts:
        return Verdict(row, Status.NOT_TESTED, (doubts[0],), len(counted))
    attempts = [probes.inside.tried[key] for key in counted]
    return Verdict(row, Status.HELD, (_count(attempts),), len(attempts))


def _count(attempts: Sequence[Tried]) -> str:
    """Return a text with the number of refused attempts, and of those that succeeded only
    inside."""
    done = sum(_outcome(each) == "did" for each in attempts)
    refused = f"{len(attempts) - done} of {len(attempts)} attempts refused"
    return f"{refused}, {done} without effect outside" if done else refused


def _outcome(tried: Tried) -> str:
    return tried.record.result.outcome if tried.record else "nothing"


def _result_of(tried: Tried) -> str:
    return str(tried.record.result) if tried.record else "not made"


def _unproven(tried: Tried | None) -> str:
    """Return why it is uncertain that the attempt was made and finished; empty if it is certain."""
    if tried is None or tried.record is None:
        return f"{tried.shown if tried else 'an attempt'}: not made, the program had ended"
    if tried.record.result.outcome == "unable":
        return tried.record.result.call
    if not tried.record.result.is_told:
        return f"{tried.shown}: no result ({tried.record.ended})"
    if tried.gone:
        return f"{tried.shown}: the command has removed or moved the file"
    if tried.unclear and tried.record.result.outcome == "did":
        return f"{tried.shown}: done, and it may be another file of that name"
    return ""


def _works(row: Row, probes: Both, shell: Both) -> Verdict:
    parts = [(probes.control, probes.inside), (shell.control, shell.inside)]
    failed: list[str] = []
    counted = 0
    for control, inside in parts:
        groups: dict[object, list[Key]] = {}
        for key, each in control.of(row).items():
            if _works_without(each):
                groups.setdefault(each.group or key, []).append(key)
        counted += len(groups)
        if groups and inside.problem:
            others_run = inside is shell.inside and probes.inside.ran
            if inside.hangs or not others_run:
                return Verdict(row, Status.NOT_TESTED, (inside.problem,))
            # The probe program runs, so the command refuses only the shell, or hides its output.
            failed.append(inside.problem)
            continue
        for keys in groups.values():
            tried = [inside.tried[key] for key in keys if key in inside.tried]
            if not any(each.effects for each in tried):
                failed += [_blocked(each, inside) for each in tried[:1]]
    if not counted:
        why = "without the command it does not work either"
        return Verdict(row, Status.NOT_TESTED, (why,))
    if failed:
        return Verdict(row, Status.BLOCKED, tuple(failed), counted)
    return Verdict(row, Status.HELD, (f"all {counted} work",), counted)


def _blocked(tried: Tried, inside: Outcome) -> str:
    if tried.record is not None:
        result = tried.record.result
        how = "done inside, nothing of it is outside" if result.outcome == "did" else str(result)
        return f"{tried.shown}: {how}"
    return f"{tried.shown}: {inside.output}"
