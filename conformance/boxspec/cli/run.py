"""The verb `run`: run the suite, write the outputs, return the exit status."""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from boxspec.cli import last_failed, outputs, settings
from boxspec.cli.arguments import EXITS, check_contracts, check_topics, run_flags
from boxspec.cli.integrity import Kit
from boxspec.cli.live import Live
from boxspec.cli.main import status_of
from boxspec.cli.order_run import judge_orders
from boxspec.cli.verbs import verb_parser
from boxspec.errors import HarnessError, UsageError
from boxspec.judge import baseline as baselines
from boxspec.judge.baseline import VerdictReason
from boxspec.judge.kit import kit as kit_facts
from boxspec.judge.record import Record
from boxspec.judge.repro import RunFlags
from boxspec.judge.requirement_verdicts import judge_requirements, selection
from boxspec.judge.requirements import Requirement, load, requirement
from boxspec.judge.results import ResultTree, counts
from boxspec.judge.spec_versions import frozen, versions
from boxspec.judge.verdict import BROKEN, Verdict
from boxspec.plural import many
from boxspec.report import json as json_report
from boxspec.report import summary
from boxspec.report.console import Console, Progress
from boxspec.report.details import print_durations
from boxspec.report.failures import grouped
from boxspec.report.output_file import OutputFile, console_of, expect_distinct
from boxspec.report.result import Result
from boxspec.schedule.body_pool import THREADS
from boxspec.schedule.interrupt import Interrupt
from boxspec.schedule.runner import Observer, run_pytest
from boxspec.schedule.selection import requires_of
from boxspec.subject import room
from boxspec.subject.client.command import shim_argv
from boxspec.subject.contract import spoken

INTERRUPTED = 2
USAGE = 4
NO_TESTS = 5


@dataclass
class Ran:
    """The outcome of a run.

    tree: None if the run ended before any verdict, or if it was a --repeat run.
    """

    status: int
    tree: ResultTree | None = None
    interrupted: bool = False


def run(args: argparse.Namespace, *, keep: bool = False, only: list[str] | None = None) -> int:
    """Run the suite and report; return the exit status."""
    return observe(args, keep=keep, only=only).status


def observe(
    args: argparse.Namespace,
    *,
    keep: bool = False,
    only: list[str] | None = None,
    also: Sequence[OutputFile] = (),
) -> Ran:
    """Run the suite and report; return the exit status with the result.

    also: files that the caller writes, which no output of the run may replace.
    """
    _check(args, only)
    argv = shim_argv(args.shim)
    # Report a missing build as wrong usage, before any test starts.
    kit = Kit()
    # Read the commit now: an interrupted run must not wait for git.
    kit_facts()
    baseline = baselines.read(Path(args.known)) if args.known else None
    files, page = outputs.opened(args)
    written = [file for file, _ in files] + ([page] if page else [])
    if args.repeat_file:
        also = [*also, OutputFile("--repeat-file", args.repeat_file, stdout=False)]
    expect_distinct([*also, *written])
    if args.last_failed:
        only = last_failed.recall(argv, only)
    if only and not args.contract:
        # Requirements that are named by id select their contracts, even undeclared ones.
        args.contract = sorted({load()[name].contract for name in only})
    console = Console(
        console_of(written), verbose=args.verbose or keep, quiet=args.quiet, color=args.color
    )
    console.header()
    if not args.quiet and (warning := room.warning()):
        console.wrap(warning)
    if args.defaults:
        console.write(f"defaults  {args.defaults}")
    default = args.shim is None

    live = Live(argv, args.jobs or THREADS, partial(console.judging, argv=argv, default=default))

    def on_record(record: Record, observer: Observer) -> None:
        live.end(record, observer)
        console.test(record)
        observer.broken += record.verdict in BROKEN

    asked = frozenset(only or ())

    def stops(record: Record) -> bool:
        """True if this failure decides the exit status of the run."""
        reasons = [VerdictReason(record.name, record.verdict, record.why)]
        return any(
            counts(load()[name], record.verdict, asked, args.profile)
            and not (baseline and baseline.covers(name, reasons))
            for name in record.requirements
        )

    observer = Observer(on_record, on_slow=console.write, stops=stops)
    progress = Progress(console, partial(live.line, observer))
    started, began = time.monotonic(), datetime.datetime.now(datetime.UTC)

    def conclude(status: int) -> Ran:
        # After an interrupt, other threads are still ending their tests. The check of thousands of
        # files would take too long then.
        if interrupt.number is None:
            kit.expect_unchanged()
        observer.info = observer.session_info()
        _raise_trouble(observer, status)
        if status == INTERRUPTED and (args.repeat or not observer.info.hello):
            raise KeyboardInterrupt(interrupt.number)
        if args.repeat:
            for line in observer.info.repeat:
                console.write(line)
            return Ran(1 if observer.info.flaky else 0)
        if args.orders and status != INTERRUPTED:
            declared = spoken(observer.info.hello.get("capabilities", []))
            asked = _selected_requirements(args, only)
            observer.records += judge_orders(args.contract or declared, args.shim, console, asked)
        observer.leave_out_cut()
        observer.sort_records()
        tree = _tree(args, list(argv), observer, baseline, only, time.monotonic() - started)
        tree.started = began.isoformat(timespec="seconds").replace("+00:00", "Z")
        code = tree.exit_code(require_complete=args.require_complete, strict=args.strict)
        is_interrupted = status == INTERRUPTED
        ran = Ran(interrupt.status if is_interrupted else code, tree, is_interrupted)
        if not args.no_cache:
            last_failed.remember(argv, tree)
            if status != INTERRUPTED and not args.fail_fast:
                live.remember()
        _report(args, console, ran, files, page)
        return ran

    interrupt = _interrupt(observer, console, progress, conclude)
    with interrupt:
        try:
            status = run_pytest(_arguments(args, keep, only), observer, args.contract)
        except KeyboardInterrupt:
            # The signal arrived while pytest did not handle signals: before its session, or after
            # it.
            status = INTERRUPTED
        finally:
            progress.close()
        interrupt.claim()
        if interrupt.number is not None:
            return conclude(INTERRUPTED)
    return conclude(status)


def _interrupt(
    observer: Observer, console: Console, progress: Progress, conclude: Callable[[int], Ran]
) -> Interrupt:
    """Return the signal handling of a run."""
    streams = sys.stdout, sys.stderr

    def say() -> None:
        console.clear()
        info = observer.session_info()
        print(
            f"boxspec: interrupted: ending {many(info.running(), 'running test')}, then writing"
            f" {many(len(observer.records), 'result')} (Ctrl-C again: without waiting)",
            file=streams[1],
            flush=True,
        )
        progress.stop()

    def finish() -> int:
        console.renew_lock()
        # Undo the redirection of stdout and stderr by pytest.
        sys.stdout, sys.stderr = streams
        return status_of(lambda: conclude(INTERRUPTED).status)

    def leave(at_once: bool) -> None:
        if not at_once:
            observer.session_info().abandon()

    return Interrupt(say, finish, lambda: observer.session_info().record_ended(), leave)


def _raise_trouble(observer: Observer, status: int) -> None:
    """If a session of pytest with this exit code has no result, raise the reason."""
    for why in (observer.info.stop, observer.broke):
        if why is not None:
            raise why
    if status == USAGE:
        lines = [line for line in observer.output.getvalue().splitlines() if "ERROR: " in line]
        problem = lines[0].partition("ERROR: ")[2] if lines else "pytest rejects the selection"
        raise UsageError("the selection", problem, "check -k and -m")
    if observer.failures or (status not in (0, 1, INTERRUPTED, NO_TESTS)):
        lines = [*observer.failures, observer.output.getvalue()][0].strip().splitlines()
        ends = " … ".join(dict.fromkeys([lines[0].strip(), lines[-1].strip()])) if lines else "?"
        raise HarnessError(f"the tests cannot be collected or run: {ends}")
    if not observer.items and status != INTERRUPTED:
        raise UsageError("the selection", "no test matches", "check -k, -m, --contract, --profile")


def _check(args: argparse.Namespace, only: list[str] | None) -> None:
    check_contracts(args.contract)
    check_topics("--focus", [args.focus] if args.focus else [])
    check_topics("--topic", args.topic or [])
    if args.spec is not None and args.spec not in versions():
        known = ", ".join(versions())
        raise UsageError(f"--spec {args.spec}", "no such version", f"known: {known}")
    for name in only or () if args.spec else ():
        if name not in frozen(args.spec):
            since = load()[name].untestable or f"it is new in {load()[name].since}"
            raise UsageError(
                f"--spec {args.spec}", f"does not have {name}: {since}", "leave it out"
            )
    asked = [load()[name] for name in only or ()]
    left_out = [f"{each.id}, {why}" for each in asked if (why := _left_out(args, each))]
    if left_out:
        raise UsageError("the selection", f"leaves out {'; '.join(left_out)}", "run it separately")


def _left_out(args: argparse.Namespace, asked: Requirement) -> str:
    """Return why a requirement named by id would not be judged, or an empty text."""
    if asked.untestable:
        return f"which is not testable: {asked.untestable}"
    for flag, wanted, its in (
        ("--contract", args.contract, asked.contract),
        ("--topic", args.topic, asked.topic),
        ("--profile", args.profile not in (None, "all") and [args.profile], asked.profile),
    ):
        if wanted and its not in wanted:
            return f"which is of {its}, not of {flag} {', '.join(wanted)}"
    return ""


def _report(
    args: argparse.Namespace,
    console: Console,
    ran: Ran,
    files: outputs.Outputs,
    page: OutputFile | None,
) -> None:
    """Write the files, then print the summary.

    The files come first, because the reader of the console may have gone. If one file cannot be
    written, the others are still written.
    """
    assert ran.tree is not None
    tree = ran.tree
    incomplete = tree.incomplete(args.require_complete)
    verdict = ": ".join(summary.verdict(tree, ran.status, incomplete, ran.interrupted))
    unwritten = []
    if files or page is not None:
        unwritten = outputs.write(
            Result.of(json_report.plain(tree, ran.status, verdict)), files, page
        )
    groups = grouped(tree)
    summary.print_summary(console, tree, groups)
    if args.pytest_summary or os.environ.get("CI") == "true":
        console.write(pytest_summary(tree))
    if args.durations:
        print_durations(console, tree, args.durations)
    summary.close(console, tree, groups, ran.status, incomplete, ran.interrupted)
    if unwritten:
        raise unwritten[0]


def _arguments(args: argparse.Namespace, keep: bool, only: list[str] | None) -> list[str]:
    # Each option and its value are one word (`--seed=N`). Before pytest knows the option, it would
    # take a separate N for a path.
    words = [f"--seed={args.seed}", f"--busy={args.busy}", *["--stress"] * args.stress]
    words += ["--isolate"] * args.isolate
    shard = "{}/{}".format(*args.shard) if args.shard else None
    for flag, value in (
        ("--shim", args.shim),
        ("--profile", args.profile),
        ("--spec", args.spec),
        ("-k", args.k),
        ("-m", args.m),
        ("--focus", args.focus),
        ("--backend", args.backend),
        ("--overlap", args.jobs),
        ("--repeat", args.repeat),
        ("--shard", shard),
        ("--repeat-file", args.repeat_file),
    ):
        if value is not None:
            words += [flag, str(value)] if len(flag) == 2 else [f"{flag}={value}"]
    for contract in args.contract or ():
        words.append(f"--contract={contract}")
    for name in only or ():
        words.append(f"--requirement={name}")
    for name in args.topic or ():
        words.append(f"--topic={name}")
    if args.fail_fast:
        words.append("--fail-fast")
    if keep:
        words.append("--keep")
    return words


def _selected_requirements(args: argparse.Namespace, only: list[str] | None) -> set[str] | None:
    """Return the requirements that are selected by id or topic; None for all."""
    if only or not args.topic:
        return set(only) if only else None
    return {name for name, each in load().items() if each.topic in args.topic}


def _tree(
    args: argparse.Namespace,
    argv: list[str],
    observer: Observer,
    baseline: baselines.Baseline | None,
    only: list[str] | None,
    seconds: float,
) -> ResultTree:
    capabilities = observer.info.hello.get("capabilities", [])
    named = _selected_requirements(args, only)
    # A requirement named by id stays in any case: without a test it counts as not measured.
    if (args.k or args.m) and not only:
        marks = [marked for item in observer.items if (marked := requires_of(item))]
        met = {name for marked in marks for name in marked.ids}
        # Forced orders are not tests, so -k and -m leave out no order.
        met.update(name for each in observer.records if each.order for name in each.requirements)
        named = met if named is None else named & met
    declared = spoken(capabilities)
    chosen, missing, selected = selection(args.contract, args.profile, declared, named)
    if args.spec:
        selected = {name: each for name, each in selected.items() if name in frozen(args.spec)}
    judged = judge_requirements(observer.records, selected, capabilities, baseline)
    whole = not (args.k or args.m or args.focus or args.fail_fast or args.shard)
    return ResultTree(
        how=RunFlags(args.shim, args.backend, args.isolate, args.stress, args.seed, args.busy),
        argv=argv,
        hello=observer.info.hello,
        left=observer.info.left(),
        folders=observer.info.folders(),
        contracts=chosen,
        not_declared=missing,
        profile=args.profile,
        judged=judged,
        records=observer.records,
        duration_s=seconds,
        stale=baseline.stale({e.id: e.test_reasons for e in judged}, whole=whole)
        if baseline
        else [],
        asked=frozenset(only or ()),
        narrowed=not whole or bool(args.topic),
        fail_fast=args.fail_fast,
        command=args.words,
        spec=args.spec,
        chosen=observer.info.chosen,
        claims=observer.info.claims,
        shard=args.shard,
    )


def pytest_summary(tree: ResultTree) -> str:
    """Return a line like the last line of a test runner, for programs that parse such lines."""
    verdicts = [record.verdict for record in tree.records]
    passed = verdicts.count(Verdict.CONFORMS)
    failed = sum(verdict in BROKEN or verdict is Verdict.HARNESS_ERROR for verdict in verdicts)
    skipped = len(verdicts) - passed - failed
    more = f", {skipped} skipped" if skipped else ""
    return f"{passed} passed, {failed} failed{more} in {tree.duration_s:.2f}s"


def main(words: Sequence[str]) -> int:
    parser = verb_parser("run", f"{settings.EPILOG}\n\n{EXITS}", usage="[OPTION...] [ID...]")
    run_flags(parser)
    parser.add_argument("ids", metavar="ID", nargs="*", help="only tests of these requirements")
    args = settings.parse(parser, words)
    args.words = ["run", *words]
    return run(args, only=[requirement(name).id for name in args.ids])
