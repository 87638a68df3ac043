"""The verb `baseline`: run the suite and write the current failures to a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from boxspec.cli import settings
from boxspec.cli.arguments import run_flags
from boxspec.cli.run import observe
from boxspec.cli.verbs import verb_parser
from boxspec.errors import UsageError
from boxspec.judge.baseline import Baseline, BaselineEntry, read
from boxspec.judge.results import JudgedRequirement, ResultTree
from boxspec.judge.verdict import BROKEN, Verdict
from boxspec.plural import many
from boxspec.report.baseline import render
from boxspec.report.output_file import OutputFile

EPILOG = """\
Takes the options of run, too: boxspec run --help shows them.

FILE then lists the requirements that are broken, and those that were not measured although the
host has the features. Entries that FILE already has keep their issue, until and flaky. Entries that
no longer match are removed, unless they are flaky and `until` has not passed. Entries of
requirements that this run did not test stay.
exit codes: 0 FILE is written; 2 it is not: wrong usage, a broken shim or kit, or interrupted."""


def main(words: Sequence[str]) -> int:
    parser = verb_parser("baseline", EPILOG, usage="[OPTION...] --write FILE")
    run_flags(parser, shown=False)
    parser.add_argument("--write", metavar="FILE", required=True, help="the baseline (TOML)")
    args = settings.parse(parser, words)
    args.words = ["baseline", *words]
    if args.known or args.repeat:
        flag = "--known" if args.known else "--repeat"
        raise UsageError(f"baseline {flag}", "cannot be combined with --write", "leave it out")
    output = OutputFile("--write", args.write, stdout=False)
    before = read(output.path) if output.path.exists() else Baseline([])
    ran = observe(args, also=[output])
    if ran.tree is None or ran.interrupted or ran.status == 2:
        return ran.status if ran.interrupted else 2
    entries = [*kept_entries(before, ran.tree), *_entries_of_run(before, ran.tree.judged)]
    output.write(render(entries))
    print(f"{many(len(entries), 'known deviation')} in {args.write}")
    return 0


def kept_entries(before: Baseline, tree: ResultTree) -> Iterator[BaselineEntry]:
    """Yield the entries to keep.

    These are entries whose tests this run left out, and flaky entries whose tests conformed.
    """
    asked = {each.id: {record.name for record in each.records} for each in tree.judged}
    seen = {each.id: each.test_reasons for each in tree.judged}
    for entry in before.entries:
        names = asked.get(entry.requirement)
        unasked = names is None or (tree.narrowed and entry.test and entry.test not in names)
        mine = [each for each in seen.get(entry.requirement, ()) if entry.is_about(each)]
        passes = bool(mine) and all(each.verdict is Verdict.CONFORMS for each in mine)
        if unasked or (passes and entry.flaky and before.is_valid(entry)):
            yield entry


def _entries_of_run(before: Baseline, judged: list[JudgedRequirement]) -> Iterator[BaselineEntry]:
    for each in judged:
        excusable = each.verdict is Verdict.NOT_MEASURED and not each.lacks
        if each.verdict not in BROKEN and not excusable:
            continue
        for seen in each.reasons:
            old = [entry for entry in before.entries if entry.requirement == each.id]
            yield next(
                (entry for entry in old if entry.matches(seen)),
                BaselineEntry(each.id, seen.verdict, seen.why, seen.test),
            )
