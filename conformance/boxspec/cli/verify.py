"""The verb `verify`: check a command that confines programs against expectations."""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from boxspec.cli.verbs import verb_parser
from boxspec.errors import UsageError
from boxspec.report.output_file import OutputFile, console_of, expect_distinct
from boxspec.subject.observe.visible import need_mounted_proc
from boxspec.terminal import Terminal
from boxspec.verify import defaults, dialects, files
from boxspec.verify.command import Command, home_of_caller
from boxspec.verify.copying import workspace
from boxspec.verify.layout import Layout
from boxspec.verify.row import Row
from boxspec.verify.rule import Rule
from boxspec.verify.rules import KINDS, NO_NETWORK, Settings, is_value, read_settings, rows_of
from boxspec.verify.table import print_table
from boxspec.verify.verification import verify
from boxspec.words import Parser, command_after_dashes

LIMIT_S = 30.0
ABOUT = """\
Starts programs with COMMAND and shows what they could read, change and reach outside, as seen by
observers outside. COMMAND is a prefix: the words of a program are added to it. `{}` puts them
elsewhere, `{sh}` gives them as one word for a shell, {root} is the workspace, {home} the home
directory and {cwd} your folder.

The run makes a home directory and a workspace with decoys: no file of yours is read or changed.
Without an expectation the default rows are asked: secrets, environment, writes outside, network,
processes, and whether ordinary work is possible."""
ROWS = "\n".join(f"  {name:<12} {' '.join(ids)}" for name, ids in defaults.FAMILIES.items())
EPILOG = f"""\
A path is `~/…`, relative to the workspace, or absolute; it may be a glob. verify.toml has the same
expectations: deny-read = ["~/.ssh"], no-network = true, command = ["./box.sh"], defaults = true.

default rows, for --row; `work` is ordinary work:
{ROWS}

held: without COMMAND the attempts succeed, with it they were made and changed nothing outside.
exit codes: 0 all expectations held; 1 something leaked, or too much is blocked; 2 wrong use;
3 something could not be tested."""
VALUES = {
    "deny-read": ("PATH", "no program may read it"),
    "deny-write": ("PATH", "no program may change it"),
    "deny-env": ("NAME", "no program gets this variable"),
    "allow-write": ("PATH", "a program can write it"),
    "allow-host": ("HOST:PORT", "a program can connect to it (127.0.0.1 only)"),
    "limit": ("NAME=N", "no program uses more: processes, memory, file-size, open-files"),
}
TEXTS = {
    "json": files.json_text,
    "junit": files.junit_text,
    "md": files.markdown_text,
    "sarif": files.sarif_text,
}


def options() -> Parser:
    made = verb_parser("verify", EPILOG, ABOUT)
    made.usage = "boxspec verify [OPTION…] [verify.toml] -- COMMAND…"
    add = made.add_argument
    add(
        "file",
        metavar="verify.toml",
        nargs="?",
        help="file with expectations; may also have the command",
    )
    add(
        "command",
        metavar="COMMAND",
        nargs="*",
        help="after --: the command that starts your sandbox",
    )
    for kind in KINDS:
        value, about = VALUES[kind]
        add(f"--{kind}", action="append", default=[], metavar=value, help=f"{about} (repeatable)")
    add(f"--{NO_NETWORK}", action="store_true", help="no TCP or UDP service can be reached")
    add("--defaults", action="store_true", help="also check the default rows")
    add(
        "--from",
        nargs=2,
        action="append",
        default=[],
        dest="settings_of",
        metavar=("TOOL", "FILE"),
        help=f"the settings of another tool are the expectations ({', '.join(_tools())})",
    )
    add(
        "--explain",
        action="store_true",
        help="with --from: print what each setting means; start nothing",
    )
    add("--root", metavar="DIR", help="the workspace starts as a copy of DIR")
    add(
        "--real-home",
        action="store_true",
        help="use your own home directory and folder; the kit opens your files but changes none",
    )
    add("--row", action="append", default=[], metavar="ID", help="only this row (repeatable)")
    add(
        "--timeout",
        type=_seconds,
        default=LIMIT_S,
        metavar="S",
        help="time limit for each start, in seconds (default 30)",
    )
    add("-v", "--verbose", action="store_true", help="evidence and command for every row")
    add("--json", metavar="FILE", help="the result for programs (boxspec-verify/1)")
    add("--junit", metavar="FILE", help="the result as JUnit XML")
    add("--md", metavar="FILE", help="the result as Markdown")
    add("--sarif", metavar="FILE", help="the rows that are not as expected, as SARIF 2.1.0")
    add(
        "--compare",
        metavar="OLD.json",
        help="also print what the sandbox allows or denies since OLD.json",
    )
    return made


def _tools() -> list[str]:
    return [each.names[0] for each in dict.fromkeys(dialects.dialects().values())]


def _seconds(word: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = 0.0
    if not 0 < number < 86400:
        raise argparse.ArgumentTypeError(f"{word!r} is not a number of seconds above 0")
    return number


def main(words: Sequence[str]) -> int:
    own, command = command_after_dashes(words)
    parser = options()
    _expect_dashes(parser, own, words)
    # Without `--`, the options of COMMAND are unknown options of this verb.
    if unexpected := parser.parse_known_args(own)[0].command:
        raise UsageError(unexpected[0], "is an unexpected argument", "write -- before COMMAND")
    args = parser.parse_args(own)
    settings = read_settings(Path(args.file)) if args.file else Settings()
    home = home_of_caller()
    sources = [(name, Path(file)) for name, file in args.settings_of]
    tools = dialects.read(sources, home, Path.cwd())
    named = {name: getattr(args, name) for name in TEXTS if getattr(args, name)}
    outputs = {name: OutputFile(f"--{name}", path) for name, path in named.items()}
    expect_distinct(outputs.values())
    terminal = Terminal(console_of(outputs.values()))
    if args.explain:
        if not tools:
            raise UsageError("--explain", "has nothing to explain", "add --from TOOL FILE")
        for each in tools:
            terminal.block(dialects.explanation(each))
        return 0
    need_mounted_proc()
    rules = [*_rules(args), *settings.rules, *(rule for each in tools for rule in each.rules)]
    layout = _layout(args, settings, home)
    folder = layout.copied or Path.cwd()
    tools = [each.as_shown(home, folder) for each in tools]
    rows = _rows(rules, args, settings, home, folder)
    if tools and not rules:
        for each in tools:
            terminal.block(dialects.explanation(each))
        raise UsageError("--from", "has no rule that can be tested", "fix the entries above")
    old = files.read(Path(args.compare)) if args.compare else None
    given = command or list(settings.command)
    prefix = Command.of_caller(given)
    furniture, witnesses = defaults.rows(), defaults.witnesses()
    found = verify(prefix, rows, furniture, args.timeout, layout, witnesses)
    entries = [entry for each in tools for entry in dialects.plain(each, found.verdicts)]
    found = replace(found, rules=tuple(entries))
    print_table(found, terminal, args.verbose)
    terminal.block(_notes(given))
    for each in tools:
        terminal.block(dialects.differing(each, found.verdicts))
    for name, output in outputs.items():
        output.write(TEXTS[name](found))
    if old is not None:
        terminal.block(files.compare(old, found))
    return found.exit_status


def _expect_dashes(parser: Parser, own: Sequence[str], words: Sequence[str]) -> None:
    """Raise a UsageError if the words before -- have a command and no file with expectations."""
    at = parser.first_plain_word(own)
    if at is None:
        return
    path = Path(own[at])
    if path.is_dir():
        remedy = f"boxspec verify --root {shlex.quote(own[at])} -- COMMAND"
        raise UsageError(own[at], "is a folder, not a file with expectations", remedy)
    if path.suffix == ".toml" or (path.is_file() and not os.access(path, os.X_OK)):
        return
    command = words[at:]
    if len(command) == 1 and " " in command[0]:
        with contextlib.suppress(ValueError):
            command = shlex.split(command[0])
    right = shlex.join(["boxspec", "verify", *own[:at], "--", *command])
    raise UsageError(own[at], "is no file with expectations", f"for a command, write {right}")


def _notes(command: Sequence[str]) -> list[str]:
    """Return a note if the command would start differently without the kit."""
    mounts = zip(command, command[2:], strict=False)
    relative = any(option.endswith("bind") and target == "." for option, target in mounts)
    if Path(command[0]).name != "bwrap" or not relative:
        return []
    why = "in your shell bubblewrap would mount it at / and start no program"
    return [f'note: . was replaced by the workspace; {why}: write "$PWD"']


def _rules(args: argparse.Namespace) -> list[Rule]:
    found = [
        Rule(kind, value, f"--{kind}")
        for kind in KINDS
        for value in getattr(args, kind.replace("-", "_"))
    ]
    for each in found:
        if not is_value(each.value):
            problem = f"takes a text of one line, not {each.value!r}"
            raise UsageError(each.origin, problem, "see conformance/verify.md")
    return [*found, *([Rule(NO_NETWORK, "", f"--{NO_NETWORK}")] if args.no_network else [])]


def _layout(args: argparse.Namespace, settings: Settings, home: Path) -> Layout:
    """Return the folders that the options or the settings file name."""
    root = args.root or settings.root
    if args.real_home or settings.real_home:
        if root:
            raise UsageError("--root", "cannot be used with --real-home", "leave one of them out")
        return Layout(home=home.resolve(), root=Path.cwd())
    return Layout(copied=workspace(Path(root))) if root else Layout()


def _rows(
    rules: Sequence[Rule], args: argparse.Namespace, settings: Settings, home: Path, root: Path
) -> list[Row]:
    """Return the rows of this run, each once."""
    own = rows_of(rules, home, root)
    usual = {row.id: row for row in defaults.rows()}
    asked = {row.id: row for row in own}
    if not own or args.defaults or settings.defaults:
        asked |= usual
    else:
        asked.setdefault("work", defaults.work())
    if not args.row:
        return list(asked.values())
    known = {**usual, **asked}
    for name in args.row:
        if name not in known:
            raise UsageError.unknown("--row", "row", name, known, "boxspec verify --help")
    chosen = [known[name] for name in args.row]
    return list({row.id: row for row in (*chosen, *own)}.values())
