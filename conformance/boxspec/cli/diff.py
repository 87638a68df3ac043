"""The verb `diff`: compare two results."""

from __future__ import annotations

import json
from collections.abc import Sequence

from boxspec.cli.verbs import verb_parser
from boxspec.errors import UsageError
from boxspec.printable import one_line
from boxspec.report import diff
from boxspec.report.output_file import OutputFile
from boxspec.report.result import read

EPILOG = """\
A requirement is fixed that was broken and conforms, and broken that was not broken before. It is
changed where it has another verdict, or is broken for another reason; figures, paths and times are
no other reason.
exit codes: 0 nothing is broken that was not broken before; 1 something is; 2 bad usage, or a file
that is no result."""


def main(words: Sequence[str]) -> int:
    parser = verb_parser("diff", EPILOG)
    add = parser.add_argument
    add("before", metavar="A.json", help="what `run --json` wrote")
    add("after", metavar="B.json", help="what it wrote later")
    add("--json", metavar="FILE", help="the same for programs (boxspec-diff/1)")
    add("--md", metavar="FILE", help="the same as Markdown, for a comment on a change")
    args = parser.parse_args(words)
    old, new = read(args.before), read(args.after)
    if not set(old.requirements) & set(new.requirements):
        problem = f"has no requirement that {args.before} has"
        raise UsageError(args.after, problem, "compare two results of one contract")
    found = diff.compare(old, new)
    if args.json:
        OutputFile("--json", args.json).write(json.dumps(diff.plain(found), indent=2) + "\n")
    if args.md:
        OutputFile("--md", args.md).write(diff.markdown(found))
    for each in (old, new):
        print(f"{each.started}  {each.name}  {each.denominators()}")
    for kind, changes in found.kinds().items():
        for change in changes:
            print(f"{kind:<9} {one_line(change.line())}")
    print(found.closing())
    return 1 if found.broken else 0
