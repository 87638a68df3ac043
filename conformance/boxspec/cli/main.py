"""The command line: `boxspec VERB …`. Exit codes: 0 conforms, 1 fails, 2 usage, 3 incomplete, 4."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from functools import partial

from boxspec import __version__
from boxspec.cli.arguments import EXITS
from boxspec.cli.verbs import ALIASES, VERBS
from boxspec.errors import HarnessError, NotConforming, UsageError
from boxspec.printable import one_line
from boxspec.subject.contract import Verb, every
from boxspec.words import Parser


def contract_verbs() -> dict[str, Verb]:
    return {verb.name: verb for contract in every() for verb in contract.verbs}


def parser() -> argparse.ArgumentParser:
    made = Parser(
        prog="boxspec",
        description="A conformance kit for anything that runs untrusted programs.",
        epilog=EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--version", action="version", version=f"boxspec {__version__}")
    verbs = made.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=Parser)
    more = {name: verb.about for name, verb in contract_verbs().items()}
    for name, about in {**VERBS, **more}.items():
        verbs.add_parser(name, help=about, add_help=False)
    return made


def dispatch(words: list[str]) -> int:
    # Only the verb that is asked for is imported: `boxspec smoke` does not pay for pytest.
    if words and words[0] in ALIASES:
        words = [ALIASES[words[0]], *words[1:]]
    if words and words[0] in VERBS:
        module = words[0].replace("-", "_")
        return int(importlib.import_module(f"boxspec.cli.{module}").main(words[1:]))
    if words and words[0] in (verbs := contract_verbs()):
        verb = verbs[words[0]]
        if verb.stands_for:
            return dispatch([*verb.stands_for, *words[1:]])
        return verb.run(words[1:])
    parser().parse_args(words)
    raise AssertionError("argparse took a verb that is not there")


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    _prepare()
    return status_of(partial(dispatch, words))


def status_of(verb: Callable[[], int]) -> int:
    """The one place where the unexpected becomes one line and exit status 2: 1 is a verdict's."""
    try:
        status = verb()
        sys.stdout.flush()
        return status
    except (UsageError, NotConforming, HarnessError) as why:
        _complain(str(why), *(why.facts if isinstance(why, NotConforming) else ()))
    except KeyboardInterrupt:
        _complain("interrupted")
    except BrokenPipeError:
        # Whoever read our output has left; there is nobody to tell.
        _be_silent()
    except OSError as why:
        place = f"{why.filename}: " if why.filename else ""
        _complain(f"{place}{why.strerror or why} ({_place(why)})")
    except MemoryError:
        _complain("out of memory")
    except Exception as why:
        if os.environ.get("BOXSPEC_TRACEBACK"):
            raise
        said = f"{type(why).__name__}: {why} ({_place(why)})"
        _complain(f"the kit is broken: {said}; BOXSPEC_TRACEBACK=1 shows more")
    return 2


def _prepare() -> None:
    """What the caller may have left out."""
    if threading.current_thread() is threading.main_thread():
        # Where it is ignored, the kernel collects our children before we do.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        # As SIGINT does: folders go and processes end. `nohup` ignores SIGHUP, and so do we then.
        for signo in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(signo) is signal.SIG_DFL:
                signal.signal(signo, _interrupt)
    # A descriptor that is closed would be the next file's.
    while (fd := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(fd, True)
    os.close(fd)
    for fd, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            made = open(fd, "w", closefd=False)
            setattr(sys, name, made)
            setattr(sys, f"__{name}__", made)
    # An encoding of the caller's choice may not have every character of a clause.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _place(why: BaseException) -> str:
    """Where in the kit it came up."""
    frames = traceback.extract_tb(why.__traceback__)
    ours = [frame for frame in frames if "conformance" in frame.filename] or frames
    if not ours:
        return "?"
    path = ours[-1].filename.rpartition("conformance/")[2]
    return f"{path}:{ours[-1].lineno}"


def _complain(*lines: str) -> None:
    """To stderr, if that can be written; what is left for stdout may be what failed."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _be_silent()
    with contextlib.suppress(OSError, ValueError):
        for number, line in enumerate(lines):
            print(f"{'  ' if number else 'boxspec: '}{one_line(line)}", file=sys.stderr)
        sys.stderr.flush()


def _be_silent() -> None:
    """Nothing more to stdout, at the end of the interpreter either: that would be status 120."""
    null = os.open(os.devnull, os.O_WRONLY)
    with contextlib.suppress(OSError, ValueError):
        os.dup2(null, sys.stdout.fileno())
    os.close(null)
