"""Helpers of the tests of modules: places, outcomes, and evidence that a module ran."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

from boxspec.api import AnswerText, Failure, NotMeasured, Verdict, expect, written
from contracts.module.client import Executed, ModuleCase

# The module sleeps for longer than any case takes. So it does not end by itself.
FOREVER = "exec sleep 60"
# Bodies of modules that fail, by the class of their error. The last one needs a timeout.
FAILURES = {"NonZeroExit": "exit 3", "OutputParseFailed": "echo no", "Timeout": FOREVER}
# An implementation must try for this long to remove a directory.
REMOVE_MS = 1000


def end(seen: Executed) -> str:
    """Return `value`, or the class of the error. If an expectation fails, the request of this
    answer is shown."""
    return AnswerText(seen.outcome, seen)


def quoted(place: object) -> str:
    return shlex.quote(str(place))


def printing(case: ModuleCase, data: bytes) -> Executed:
    """Execute a module that prints exactly these bytes."""
    place = case.tmp / "output"
    place.write_bytes(data)
    case.module.script("prints", f"exec cat {quoted(place)}")
    return case.module.execute("prints")


def noting_home(case: ModuleCase, body: str) -> str:
    """Return a script that first writes its HOME to a file, and makes some files in that
    directory.

    The file is renamed into place, because a test may read it as soon as it exists.
    """
    place, new = quoted(case.tmp / "home"), quoted(case.tmp / "home.new")
    files = 'mkdir -p "$HOME/a/b" && : >"$HOME/a/b/c" && ln -s / "$HOME/a/link"'
    return f'{files}\nprintf %s "$HOME" >{new} && mv {new} {place}\n{body}'


def noted(place: Path) -> str:
    """Return the content of a file that a module has written outside its directory.

    If the file is missing, the module did not run, and the test fails.
    """
    if not place.exists():
        raise Failure(
            "the module does its work",
            f"the file {place.name}",
            "no such file",
            {},
            Verdict.UNPROVEN,
        )
    return written(place).decode("utf-8", "surrogateescape")


def expect_home_gone(case: ModuleCase, seen: Executed) -> None:
    home = Path(noted(case.tmp / "home"))
    left = home.is_dir()
    expect(
        "whether the module's directory still exists",
        AnswerText("left" if left else "gone", seen),
        "gone",
    )


def filling(ready: Path, files: int) -> str:
    """Return a script that ends while four processes outside its group fill its directory.

    When the module ends, each of the processes has made `files` files. They stop when the directory
    is removed, because then no file can be created in it. So if a file remains, the clean-up has
    left it. Each process uses at most 20,000 names, so that a long clean-up does not fill the file
    system.
    """
    fifo = quoted(ready)
    return f"""
for w in 1 2 3 4; do
    setsid sh -c 'i=0
        while :; do
            : >$0-$((i % 20000)) || exit
            i=$((i + 1))
            [ $i != {files} ] || echo >"$1"
        done' $w {fifo} \\
        </dev/null >/dev/null 2>&1 &
done
for w in 1 2 3 4; do read -r line; done <>{fifo}
echo 1
"""


def saying_so(case: ModuleCase, body: str) -> str:
    """Return a script that first creates a file, which shows that the module runs."""
    return f": >{quoted(case.tmp / 'at-work')}\n{body}"


def at_work(case: ModuleCase) -> bool:
    return (case.tmp / "at-work").exists()


def runs_here(case: ModuleCase, body: str) -> None:
    """Execute the script as a module with an ordinary id, to show that it can have its effect."""
    case.module.script("control", body)
    case.module.execute("control")


def time_out(
    case: ModuleCase, module_id: str, started: Callable[[], bool], ms: int = 300
) -> Executed:
    """Execute with a timeout that passes while the module runs.

    A runner may need longer to start than the timeout allows. Then the execution is repeated with a
    timeout that is four times as long.
    """
    for factor in (1, 4, 16):
        seen = case.module.execute(module_id, timeout_ms=ms * factor, within_s=30)
        if started():
            return seen
    raise NotMeasured(f"the module was not at work within {16 * ms} ms")
