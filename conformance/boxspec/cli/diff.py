"""The verb `diff`: compare two results."""

from __future__ import annotations

import json
from collections.abc import Sequence

from boxspec.cli.verbs import verb_parser
from boxspec.errors import UsageError
from boxspec.printable import one_line
from boxspec.report import diff
from boxspec.report.output_file import OutputFile, console_of, expect_distinct
from boxspec.report.result import read

EPILOG = """\
fixed: it was broken and conforms now. broken: it was not broken and is now. changed: another
verdict, or broken for another reason; reasons that differ only in numbers, paths or times are
equal.
exit codes: 0 no requirement broke; 1 one did; 2 wrong usage, or a file is not a result."""


def main(words: Sequence[str]) -> int:
    parser = verb_parser("diff", EPILOG)
    add = parser.add_argument
    add("before", metavar="A.json", help="a result of `run --json`")
    add("after", metavar="B.json", help="a later result")
    add("--json", metavar="FILE", help="write the comparison as JSON (boxspec-diff/1)")
    add("--md", metavar="FILE", help="write the comparison as Markdown")
    args = parser.parse_args(words)
    named = [("--json", args.json), ("--md", args.md)]
    outputs = {flag: OutputFile(flag, name) for flag, name in named if name}
    expect_distinct(outputs.values())
    console = console_of(outputs.values())
    old, new = read(args.before), read(args.after)
    if not set(old.requirements) & set(new.requirements):
        problem = f"has no requirement in common with {args.before}"
        raise UsageError(args.after, problem, "compare two results of the same contract")
    found = diff.compare(old, new)
    for flag, file in outputs.items():
        as_json = flag == "--json"
        file.write(
            json.dumps(diff.plain(found), indent=2) + "\n" if as_json else diff.markdown(found)
        )
    for each in (old, new):
        print(f"{each.started}  {each.name}  {each.denominators()}", file=console)
    for kind, changes in found.kinds().items():
        for change in changes:
            print(f"{kind:<9} {one_line(change.line())}", file=console)
    print(found.closing(), file=console)
    return 1 if found.broken else 0
