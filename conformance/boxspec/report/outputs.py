"""The files of a run: all made from one result, and known to be writable before it begins."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from boxspec.report import badge, html, json, junit, markdown, tap
from boxspec.report.files import OutputFile
from boxspec.report.result import Result

RENDERERS: dict[str, Callable[[Result], str]] = {
    "--json": lambda result: json.render(result.plain),
    "--junit": junit.render,
    "--tap": tap.render,
    "--md": markdown.render,
}


@dataclass(frozen=True)
class Output:
    file: OutputFile
    write: Callable[[Result], None]


def _of(file: OutputFile, render: Callable[[Result], str]) -> Output:
    return Output(file, lambda result: file.write(render(result)))


def outputs(args: argparse.Namespace) -> list[Output]:
    """What the flags of a run name; a usage error where one cannot be written."""
    made = []
    for flag, render in RENDERERS.items():
        name = getattr(args, flag.removeprefix("--"))
        if name:
            made.append(_of(OutputFile(flag, name), render))
    for name in args.badge or ():
        render = badge.renderer(name)
        made.append(_of(OutputFile("--badge", name), render))
    if args.html:
        file = OutputFile("--html", args.html)
        made.append(Output(file, lambda result: html.write(file, html.Given([result]))))
    return made
