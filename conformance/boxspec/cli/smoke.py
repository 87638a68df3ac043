"""The verb `smoke`: run only the trust checks."""

from __future__ import annotations

from collections.abc import Sequence

from boxspec.cli import settings
from boxspec.cli.arguments import shared_flags, shim_flag
from boxspec.cli.verbs import verb_parser
from boxspec.printable import one_line
from boxspec.subject.client.command import shim_argv
from boxspec.subject.contract import spoken
from boxspec.subject.isolation import isolation
from boxspec.subject.session import Session
from boxspec.subject.trust import trust
from boxspec.terminal import Terminal


def smoke(command: str | None, *, isolate: bool = False) -> int:
    session = Session(shim_argv(command), isolate=isolation() if isolate else None)
    try:
        terminal = Terminal()
        trust(session, lambda line: terminal.write(f"ok    {line}"), slow=terminal.write)
        implementation = session.hello["implementation"]
        declared = ", ".join(sorted(session.capabilities)) or "nothing"
        name = f"{implementation['name']} {implementation['version']}"
        cannot = [f"{contract}: {why}" for contract, why in session.unavailable.items()]
        if cannot and not {*spoken(session.capabilities)} - {*session.unavailable}:
            print(one_line(f"{name} cannot be judged here; {'; '.join(cannot)}"))
            return 3
        print(one_line(f"{name} passed the trust checks; it declares {declared}"))
        for line in cannot:
            print(one_line(f"not judged here: {line}"))
    finally:
        session.close()
    return 0


def main(words: Sequence[str]) -> int:
    parser = verb_parser("smoke")
    shim_flag(parser)
    shared_flags(parser, "--isolate")
    args = settings.parse(parser, words)
    return smoke(args.shim, isolate=args.isolate)
