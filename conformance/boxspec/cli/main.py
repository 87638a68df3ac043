"""The command line: `boxspec VERB …`."""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from boxspec import __version__
from boxspec.cli.arguments import EXITS
from boxspec.cli.verbs import RENAMED, VERBS, overview
from boxspec.errors import HarnessError, NotConforming, UsageError
from boxspec.printable import one_line
from boxspec.subject.contract import Verb, every
from boxspec.words import Parser

NO_THREADS = (
    "no thread can be started: too many processes run here, or a filter refuses clone3"
    " (raise ulimit -u or pids.max, or let the filter answer clone3 by ENOSYS)"
)
HELP = "boxspec VERB --help shows the options of a verb, and examples."


def contract_verbs() -> dict[str, Verb]:
    return {verb.name: verb for contract in every() for verb in contract.verbs}


def parser() -> argparse.ArgumentParser:
    more = {name: verb.about for name, verb in contract_verbs().items()}
    own = [f"   {name:<10} {about}" for name, about in more.items()]
    made = Parser(
        prog="boxspec",
        usage="boxspec VERB [OPTION...]",
        description="A conformance kit for software that runs untrusted programs.\n" + overview(),
        epilog="\n".join(["verbs of contracts", *own, "", f"{HELP}\n", EXITS]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--version", action="version", version=f"boxspec {__version__}")
    # The help of this argument is suppressed, because the description lists the verbs in groups.
    verbs = made.add_subparsers(dest="verb", help=argparse.SUPPRESS, parser_class=Parser)
    for name, about in {**VERBS, **more}.items():
        verbs.add_parser(name, help=about, add_help=False)
    return made


def dispatch(words: list[str]) -> int:
    # Only the module of the requested verb is imported, so that `boxspec smoke` does not import
    # pytest.
    if words and words[0] in RENAMED:
        new = f"boxspec {RENAMED[words[0]]}"
        raise UsageError(f"boxspec {words[0]}", f"is now {new}", f"{new} --help says how")
    if words and words[0] in VERBS:
        module = words[0].replace("-", "_")
        return int(importlib.import_module(f"boxspec.cli.{module}").main(words[1:]))
    if words and words[0] in (verbs := contract_verbs()):
        return verbs[words[0]].run(words[1:])
    if words and not words[0].startswith("-"):
        known = [*VERBS, *contract_verbs()]
        raise UsageError.unknown(f"boxspec {words[0]}", "verb", words[0], known, "boxspec --help")
    parser().parse_args(words)
    raise UsageError("VERB", "is missing", "boxspec --help lists the verbs")


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    _prepare()
    return status_of(partial(dispatch, words))


def status_of(verb: Callable[[], int]) -> int:
    """Return the exit status of a verb.

    Unexpected exceptions become one line and exit status 2, because status 1 is a verdict.
    """
    try:
        status = verb()
        sys.stdout.flush()
        return status
    except (UsageError, NotConforming, HarnessError) as why:
        _complain(str(why), *(why.facts if isinstance(why, NotConforming) else ()))
    except KeyboardInterrupt as why:
        _complain("interrupted")
        # The kit's signal handlers pass the number of the signal as an argument of
        # KeyboardInterrupt.
        return 128 + int(next(iter(why.args), None) or signal.SIGINT)
    except BrokenPipeError:
        # The reader of stdout has closed it, so no message can reach it.
        _be_silent()
        return 128 + signal.SIGPIPE
    except OSError as why:
        place = f"{why.filename}: " if why.filename else ""
        full = why.errno in (errno.ENOSPC, errno.EDQUOT)
        hint = "free space, or name another folder: TMPDIR" if full else _place(why)
        if isinstance(why, FileNotFoundError) and not _has_working_directory():
            place, hint = "the working directory was removed: ", "cd to another folder"
        _complain(f"{place}{why.strerror or why} ({hint})")
    except MemoryError:
        _complain("out of memory")
    except Exception as why:
        if os.environ.get("BOXSPEC_TRACEBACK"):
            raise
        if isinstance(why, RuntimeError) and "start new thread" in str(why):
            _complain(NO_THREADS)
            return 2
        text = f"{type(why).__name__}: {why} ({_place(why)})"
        _complain(f"internal error: {text}; set BOXSPEC_TRACEBACK=1 for details")
    return 2


def _has_working_directory() -> bool:
    try:
        return bool(Path.cwd())
    except FileNotFoundError:
        return False


def _prepare() -> None:
    """Set up signals and streams that the caller may have left in an unusual state."""
    if threading.current_thread() is threading.main_thread():
        # If SIGCHLD were ignored, the kernel would reap the children before the kit does.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        # SIGTERM and SIGHUP are treated like SIGINT, so that folders are deleted and processes end.
        # `nohup` ignores SIGHUP; then SIGHUP stays ignored.
        for signo in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(signo) is signal.SIG_DFL:
                signal.signal(signo, _interrupt)
    # If a standard descriptor is closed, the next opened file would get its number.
    while (fd := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(fd, True)
    os.close(fd)
    for fd, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            made = open(fd, "w", closefd=False)
            setattr(sys, name, made)
            setattr(sys, f"__{name}__", made)
    # The encoding of the caller may lack some characters of a clause.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _interrupt(number: int, _: object) -> None:
    raise KeyboardInterrupt(number)


def _place(why: BaseException) -> str:
    """Return the place in the kit where an exception was raised."""
    frames = traceback.extract_tb(why.__traceback__)
    ours = [frame for frame in frames if "conformance" in frame.filename] or frames
    if not ours:
        return "?"
    path = ours[-1].filename.rpartition("conformance/")[2]
    return f"{path}:{ours[-1].lineno}"


def _complain(*lines: str) -> None:
    """Print to stderr, if possible.

    Flush stdout first. If the flush fails, which may be the error to report, silence stdout.
    """
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _be_silent()
    with contextlib.suppress(OSError, ValueError):
        for number, line in enumerate(lines):
            prefix = "  " if number else "" if line.startswith("boxspec ") else "boxspec: "
            print(f"{prefix}{one_line(line)}", file=sys.stderr)
        sys.stderr.flush()


def _be_silent() -> None:
    """Redirect stdout to /dev/null. Otherwise the flush at exit would fail, and the status would be
    120."""
    null = os.open(os.devnull, os.O_WRONLY)
    with contextlib.suppress(OSError, ValueError):
        os.dup2(null, sys.stdout.fileno())
    os.close(null)
