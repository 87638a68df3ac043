"""Read defaults of options from `boxspec.toml` in the working directory, and from BOXSPEC_SHIM."""

from __future__ import annotations

import argparse
import os
import textwrap
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from boxspec.errors import UsageError
from boxspec.subject.client.command import shim_argv

FILE = "boxspec.toml"
VARIABLE = "BOXSPEC_SHIM"
# The options of `boxspec run` that the file may set. A key is the long name of an option.
KEYS = (
    *("shim", "isolate", "contract", "profile", "topic", "spec", "backend"),
    *("jobs", "seed", "stress", "known", "strict", "require-complete"),
)
EPILOG = textwrap.fill(
    f"defaults: {FILE} in the working directory may set {', '.join(KEYS[:-1])} and {KEYS[-1]}, for"
    f' example shim = "./my-shim" and contract = ["exec"]. {VARIABLE} sets the shim, too. An option'
    f" of the command line comes first, then {VARIABLE}, then the file.",
    96,
    break_on_hyphens=False,
)


def parse(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    """Parse a command line, and add the defaults that the user has set.

    The attribute `defaults` of the result is a text about the defaults that were used.
    """
    found = {name: (value, FILE) for name, value in _read(Path(FILE)).items()}
    # The variable is removed, because a judged program must not see a variable of the kit.
    if shim := os.environ.pop(VARIABLE, ""):
        found["shim"] = (shim, VARIABLE)
    options = parser._option_string_actions
    mine = {name: options[f"--{name}"] for name in found if f"--{name}" in options}
    values = {name: _checked(mine[name], name, *found[name]) for name in mine}
    # argparse sets a default only if the namespace has no value, so None means "not given".
    args = parser.parse_intermixed_args(
        words, argparse.Namespace(**{a.dest: None for a in mine.values()})
    )
    used: dict[str, list[str]] = {}
    for name, action in mine.items():
        if getattr(args, action.dest) is None:
            setattr(args, action.dest, values[name])
            used.setdefault(found[name][1], []).append(name)
    if "shim" in used.get(FILE, ()) or "shim" in used.get(VARIABLE, ()):
        _check_shim(args.shim, found["shim"][1])
    args.defaults = "; ".join(f"{', '.join(names)} from {place}" for place, names in used.items())
    return args


def _check_shim(command: str, place: str) -> None:
    """Raise the UsageError about a shim that cannot be started, with the place that names it."""
    try:
        shim_argv(command)
    except UsageError as why:
        where = f"{place}: shim" if place == FILE else place
        raise UsageError(f"{where} = {command}", why.problem, why.remedy) from None


def _read(file: Path) -> dict[str, Any]:
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as why:
        raise UsageError(FILE, f"cannot be read: {why.strerror}", "fix or remove it") from None
    except ValueError as why:
        raise UsageError(FILE, f"is not TOML: {why}", "fix or remove it") from None
    for name, value in found.items():
        if name not in KEYS and isinstance(value, dict):
            raise UsageError(
                f"{FILE}: [{name}]", "the file has no tables", f"write its keys without [{name}]"
            )
        if name not in KEYS:
            place, listing = f"{FILE}: {name}", "boxspec run --help"
            raise UsageError.unknown(place, "key", name, KEYS, listing)
    return found


def _checked(action: argparse.Action, name: str, value: Any, place: str) -> Any:
    """Return a value for an option; raise a UsageError if the option does not accept it."""
    where = f"{place}: {name}" if place == FILE else place
    if action.nargs == 0:
        kind, right, example = "true or false", isinstance(value, bool), f"{name} = true"
    elif isinstance(action, argparse._AppendAction):
        right = isinstance(value, list) and all(isinstance(each, str) for each in value)
        kind, example = "a list of strings", f'{name} = ["{action.metavar}"]'
    elif action.type is not None:
        # A boolean is an integer in Python.
        right = isinstance(value, int) and not isinstance(value, bool)
        kind, example = "a number", f"{name} = 1"
    else:
        kind, right, example = "a string", isinstance(value, str), f'{name} = "…"'
    if not right:
        raise UsageError(where, f"is not {kind}", f"for example: {example}")
    if action.choices is not None and value not in action.choices:
        known = ", ".join(map(str, action.choices))
        raise UsageError(where, f"{value!r} is not known", f"known: {known}")
    if callable(action.type):
        try:
            action.type(str(value))
        except argparse.ArgumentTypeError as why:
            raise UsageError(where, str(why), f"for example: {example}") from None
    return value
