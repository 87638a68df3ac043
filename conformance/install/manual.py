"""Write boxspec.1, a page for each verb, and shell completions, from the parsers.

    PYTHONPATH=conformance python -P -m install.manual FOLDER

Needs argparse-manpage and shtab, which the kit itself does not need. hook.py runs this for each
wheel.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from typing import NoReturn

from boxspec import __version__
from boxspec.cli import main as command
from boxspec.cli.verbs import DEV, VERBS
from boxspec.words import Parser

DEV_VERBS = [f"dev {name}" for name in DEV]
SHELLS = {
    "bash": "bash-completion/completions/boxspec",
    "zsh": "zsh/site-functions/_boxspec",
}


class _Caught(Exception):
    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self.parser = parser


def _catch(parser: argparse.ArgumentParser, *_: object) -> NoReturn:
    raise _Caught(parser)


def parser_of(verb: str) -> argparse.ArgumentParser:
    """Return the parser of a verb, captured when the verb is about to parse the command line."""
    before = Parser.parse_args, Parser.parse_intermixed_args
    Parser.parse_args = Parser.parse_intermixed_args = _catch  # type: ignore[assignment,method-assign]
    try:
        if verb in VERBS or verb in DEV_VERBS:
            module = verb.replace(" ", ".").replace("-", "_")
            importlib.import_module(f"boxspec.cli.{module}").main([])
        else:
            command.contract_verbs()[verb].run([])
    except _Caught as caught:
        return caught.parser
    finally:
        Parser.parse_args, Parser.parse_intermixed_args = before  # type: ignore[method-assign]
    raise AssertionError(f"{verb} has no parser")


def whole() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """Return the parser of `boxspec` with every verb in it, and the verbs by name."""
    made = command.parser()
    verbs = _verbs(made)
    found = {name: parser_of(name) for name in verbs}
    verbs.update(found)
    found |= {name: parser_of(name) for name in DEV_VERBS}
    _verbs(found["dev"]).update({name: found[f"dev {name}"] for name in DEV})
    return made, found


def _verbs(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the verbs of a parser by name; changes of the result change the parser."""
    actions = (each for each in parser._actions if isinstance(each, argparse._SubParsersAction))
    found: dict[str, argparse.ArgumentParser] = next(actions).choices
    return found


def pages(folder: Path, parsers: dict[str, argparse.ArgumentParser]) -> None:
    from argparse_manpage.manpage import Manpage

    folder.mkdir(parents=True)
    for name, parser in parsers.items():
        data = {
            "project_name": "boxspec",
            "version": __version__,
            "description": parser.description.splitlines()[0] if parser.description else "",
        }
        _, _, text = str(Manpage(parser, _data=data)).partition("\n")
        # The generated first line splits `boxspec VERB` into two fields.
        title = name.upper().replace("-", r"\-")
        (folder / f"{name}.1").write_text(f'.TH {title} 1 "" "boxspec {__version__}"\n{text}')


def main(folder: Path) -> None:
    import shtab

    made, verbs = whole()
    man = {f"boxspec-{name.replace(' ', '-')}": parser for name, parser in verbs.items()}
    for shell, place in SHELLS.items():
        file = folder / place
        file.parent.mkdir(parents=True)
        file.write_text(shtab.complete(made, shell))
    pages(folder / "man" / "man1", {"boxspec": command.parser(), **man})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
