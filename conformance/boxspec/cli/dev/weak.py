"""The verb `dev weak`: explore sandboxes from which one rule is left out."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence

from boxspec.cli.explore import PROFILE, opened
from boxspec.cli.fuzz import seconds
from boxspec.cli.verbs import verb_parser
from boxspec.errors import UsageError
from boxspec.explore.search import Explorer
from boxspec.faults.fault import interpreter
from boxspec.places import ROOT
from boxspec.terminal import Terminal
from boxspec.verify.janitor import Janitor
from boxspec.words import natural

SHIM = ROOT / "conformance" / "shims" / "weak" / "shim.py"
EPILOG = """\
exit codes: 0 each weak sandbox has an effect in time; 1 one has none; 2 wrong usage."""


def main(words: Sequence[str]) -> int:
    parser = verb_parser("dev weak", EPILOG)
    add = parser.add_argument
    add("--list", action="store_true", help="print the rules, explore none")
    add(
        "--only",
        action="append",
        metavar="RULE",
        help="only the sandbox without this rule (repeatable)",
    )
    about = "duration for each sandbox (default 60s)"
    add("--time", type=seconds, default=60.0, metavar="T", help=about)
    about = "seed of the generated programs (default 1)"
    add("--seed", type=natural, default=1, metavar="N", help=about)
    args = parser.parse_args(words)
    rules = _rules()
    for name in args.only or ():
        if name not in rules:
            raise UsageError.unknown("--only", "rule", name, rules, "boxspec dev weak --list")
    chosen = {name: rules[name] for name in args.only or rules}
    terminal = Terminal()
    if args.list:
        for name, backend in chosen.items():
            terminal.write(f"{name:<34}{backend}")
        return 0
    found = [_explore(*each, args.time, args.seed, terminal) for each in chosen.items()]
    terminal.write(
        f"{sum(found)} of {len(found)} weak sandboxes found, each within {args.time:g} s"
    )
    return int(not all(found))


def _rules() -> dict[str, str]:
    words = [interpreter(), "-I", "-S", str(SHIM), "--list"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return {line.split()[0]: line.split()[1] for line in done.stdout.splitlines()}


def _explore(name: str, backend: str, limit_s: float, seed: int, terminal: Terminal) -> bool:
    shim = shlex.join([interpreter(), "-I", "-S", str(SHIM), "--without", name])
    with Janitor() as janitor, opened(shim, backend, PROFILE, []) as sandbox:
        explorer = Explorer(sandbox, janitor, seed, terminal.status)
        explorer.explore(1 << 62, limit_s, 1, stop_at_first=True)
        first_s, found = explorer.found.first_s, explorer.found
    in_time = first_s is not None and first_s <= limit_s
    if first_s is not None:
        what = f"{first_s:4.1f} s  {explorer.seen[0].kind}"
    else:
        what = found.problem or f"no effect of {found.programs:,} programs"
    terminal.write(f"{'found' if in_time else 'missed':<7}{name:<34}{backend:<19} {what}")
    return in_time
