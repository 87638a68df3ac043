"""Open and write the result files that the options of a run name."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from boxspec.errors import UsageError
from boxspec.report import json as json_report
from boxspec.report.formats import attestation, badge, html, junit, markdown, sarif, tap
from boxspec.report.output_file import OutputFile
from boxspec.report.result import Result

# The output files of a run, with the function that renders each.
Outputs = list[tuple[OutputFile, Callable[[Result], str]]]
FORMATS: dict[str, Callable[[Result], str]] = {
    "--json": lambda result: json_report.render(result.plain),
    "--junit": junit.render,
    "--tap": tap.render,
    "--sarif": sarif.render,
    "--attestation": attestation.render,
    "--md": markdown.render,
}


def opened(args: argparse.Namespace) -> tuple[Outputs, OutputFile | None]:
    """Return the output files of the options, and separately the HTML page.

    Raise a UsageError if one of the files cannot be written.
    """
    files: Outputs = [
        (OutputFile(flag, name), render)
        for flag, render in FORMATS.items()
        if (name := getattr(args, flag.removeprefix("--")))
    ]
    for name in args.badge or ():
        render = badge.renderer(name)
        files.append((OutputFile("--badge", name), render))
    return files, OutputFile("--html", args.html, stdout=False) if args.html else None


def write(result: Result, files: Outputs, page: OutputFile | None) -> list[UsageError]:
    """Write all outputs; return the errors."""
    unwritten = []
    for file, render in files:
        try:
            file.write(render(result))
        except UsageError as why:
            unwritten.append(why)
    if page is not None:
        try:
            html.write(page, html.Given([result]))
        except UsageError as why:
            unwritten.append(why)
    return unwritten
