"""Tests with shims that lie, hang or flood: the verdict and exit status for each, and what it
leaves."""

from __future__ import annotations

import re
import shutil
import sys
from importlib import import_module
from pathlib import Path

import pytest

from boxspec.subject.contract import names
from boxspec.subject.sentinels import UNSUPPORTED
from selftest.tools import CONFORMANCE, FAKE, FEW_TEXTS, Done, boxspec, run

pytestmark = pytest.mark.turns(6)

# The words that the verdict must contain, for each fake. A fake with `@run` is correct in serve
# mode, which is tested first, and wrong only in run mode.
WRONG = {
    "always-yes": "says yes to all",
    "always-no": "a program that exits 0 is answered with",
    "knows-everything": "the unknown operation",
    "echo": "exactly one of result, unsupported, error",
    "echo@run": "exactly one of result, unsupported, error",
    "garbage": "is not JSON",
    "garbage@run": "is not JSON",
    "wrong-id": "/id: is 'stale-",
    "wrong-id@run": "/id: is 'stale-",
    "late": "no answer within ",
    "double-answer": "two answers to one request",
    "hang": "no answer within ",
    "hang@run": "did not return within 10 s",
    "stops-its-group": "no answer within ",
    "refuses-what-waits": "a program that waits for a fifo is answered with",
    "crash": "killed 11 without a whole answer",
    "crash@run": "killed 11",
    "huge-line": "a line is longer than 16777216 bytes",
    "huge-line@run": "the limit is 16777216",
    "limit-is-endless": "the limit is 67108864",
    "millions-of-values": "too many values and names to be read",
    "millions-of-values@run": "too many values and names to be read",
    "pretty-prints": "is one line of JSON on stdout",
    "logs-to-stdout": "all else goes to stderr",
    "response-is-fifo@run": "the response is not a regular file",
    "response-is-folder@run": "the response is not a regular file",
    "response-is-endless@run": "the response cannot be read: it is a symbolic link",
    "response-is-link@run": "the response cannot be read: it is a symbolic link",
    "response-is-another-name@run": "the response has 2 names",
    "response-is-loop@run": "the response cannot be read: it is a symbolic link",
    "tells-for-ever": "no answer within ",
    "tells-for-ever-in-a-run": "it wrote more than 134217728 bytes to its stderr",
    "closes-stdout": "closed its stdout without a whole answer",
    "ignores-sigterm": "after bye it should exit 0; it stayed",
    "leaks-a-child": "serve leaves 1 process running after 1 request that should leave none",
    "leaks-a-child@run": "leaves",
    "half-line": "exited 0 without a whole answer",
    "half-line@run": "is not JSON",
    "lies-about-pid": "says pid 1",
    "lies-about-pid@run": "says pid 1",
    "wrong-nonce": "repeats the nonce",
    "wrong-nonce@run": "repeats the nonce",
    "undeclared-capability-answers": "exec.cap is not declared but used all the same",
    "undeclared-capability-is-an-error": "is answered 'unsupported' with this name",
    "undeclared-capability-by-another-name": "backend or backend.probe, not 'that'",
    "policy-yes": "says yes to all",
    "policy-no": "says no to all",
    "policy-refuses": "expected a result",
    "policy-of-another-day": "the same checks are answered with",
    "glob-yes": "says yes to all",
    "glob-no": "says no to all",
    "undeclared-yaml": "policy.yaml is not declared, so a request that needs it",
    "declared-explain": "policy.explain is declared, its sentinel policy.explain is answered",
    "sbpl-yes": "says yes to all",
    "sbpl-no": "says no to all",
    "sbpl-refuses": "expected a result",
    "sbpl-of-another-day": "one setup is answered with",
    "wrap-yes": "says yes to all",
    "wrap-no": "says no to all",
    "declared-wrap": "sbpl.wrap is declared, its sentinel sbpl.wrap is answered 'unsupported'",
    "undeclared-fold": "sbpl.fold is not declared but used all the same",
    "hello-then-dies": "exited 1 without a whole answer",
    "hello-then-dies@run": "exited 1",
}
# For some fakes: parts of the request that the refusal must show.
ASKED = {
    "always-yes": '"args": ["7"]',
    "knows-everything": '.no-such-op"',
    "policy-yes": '"op": "policy.check"',
    "undeclared-capability-answers": '"max_output_bytes": 1000',
    "crash@run": "op: 'hello'",
    "garbage": "op: 'hello'",
}
RIGHT = ["honest", "split-lines", "literal", "only-globs", "compiling", "only-texts"]


def one(verb: str, name: str) -> Done:
    return boxspec(verb, "--shim", f"{FAKE} {name}")


# These have separate tests, which measure the disk and the memory of the kit.
LARGE = ("huge-line@run", "limit-is-endless", "millions-of-values")
ENDLESS = {"tells-for-ever": 2**20, "tells-for-ever-in-a-run": 17 * 2**20}

# `run` makes the checks of `smoke` first. A few fakes are enough to show this.
ASKS = [("smoke", name) for name in WRONG if name not in {*ENDLESS, *LARGE}] + [
    ("run", name) for name in [*WRONG][::8]
]


@pytest.mark.parametrize("verb", ["smoke", "run"])
def test_a_shim_that_hangs_is_named_while_the_kit_waits(verb: str) -> None:
    done = one(verb, "hang")
    waits = (
        r'^still checking the shim after 8 s \(limit 10 s, .*\); waiting for its answer to \{"op": '
    )
    assert re.search(waits, done.stdout, re.M), done.stdout + done.stderr


@pytest.mark.turns(10)
@pytest.mark.parametrize(("verb", "name"), ASKS)
def test_a_fake_is_not_scored(name: str, verb: str) -> None:
    done = one(verb, name)
    said = done.stdout + done.stderr
    assert done.returncode == 2, said
    assert "not a conforming shim" in said
    assert WRONG[name] in said
    assert ASKED.get(name, "") in said
    assert re.search("^  request: ", said, re.M), said
    assert "\nPASS" not in said


@pytest.mark.turns(10)
@pytest.mark.parametrize(("name", "most"), ENDLESS.items())
def test_an_endless_stderr_fills_no_disk(name: str, most: int, tmp_path: Path) -> None:
    done = boxspec("smoke", "--shim", f"{FAKE} {name}", env={"TMPDIR": str(tmp_path)})
    assert done.returncode == 2, done.stdout + done.stderr
    assert WRONG[name] in done.stdout + done.stderr
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < most, files


MOST_KB = 300 * 1024
# A program that prints the peak memory of the kit's own process, without that of the fakes that it
# waits for.
ITS_PEAK = """\
import re, sys
from boxspec.cli.main import main
status = main(sys.argv[1:])
print("peak", *re.findall(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read()))
sys.exit(status)
"""


@pytest.mark.parametrize("name", LARGE)
def test_large_outputs_do_not_stay_in_the_kits_memory(name: str) -> None:
    words = ("smoke", "--shim", f"{FAKE} {name}")
    done = run([sys.executable, "-P", "-c", ITS_PEAK, *words], cwd=CONFORMANCE)
    assert done.returncode == 2, done.stdout + done.stderr
    assert WRONG[name] in done.stdout + done.stderr
    assert int(done.stdout.rpartition("peak ")[2]) < MOST_KB
    large = re.search(r" \(\d+ MiB; .* clean --force removes it\)$", done.stderr, re.M)
    assert (large is not None) == (name == "huge-line@run"), done.stderr


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_shim_passes_the_smoke_test(name: str) -> None:
    done = one("smoke", name)
    assert done.returncode == 0, done.stdout + done.stderr
    # Undeclared capabilities take one line per contract.
    assert done.stdout.count(f": {UNSUPPORTED}\n") <= len(names())


@pytest.mark.turns(10)
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_shim_is_scored(name: str) -> None:
    done = boxspec(
        "run", "--shim", f"{FAKE} {name}", "-k", f"{FEW_TEXTS} or test_check or test_form"
    )
    assert done.returncode in (0, 1, 3), done.stdout + done.stderr
    assert re.search(r"^(PASS|FAIL|INCOMPLETE)  .* · exit \d", done.stdout, re.M)


@pytest.mark.parametrize("verb", ["smoke", "run"])
def test_a_shim_without_run_bit_is_named(verb: str, tmp_path: Path) -> None:
    copy = tmp_path / "no-run-bit"
    shutil.copy(FAKE, copy)
    copy.chmod(0o644)
    done = boxspec(verb, "--shim", copy)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1, done.stderr
    assert f"{copy}: has no run bit" in done.stderr


def test_a_source_file_is_no_shim(tmp_path: Path) -> None:
    (tmp_path / "shim.go").write_text("package main\n")
    done = boxspec("smoke", "--shim", "./shim.go", cwd=tmp_path)
    assert done.returncode == 2
    assert "./shim.go: is the source of a program (build it, and name" in done.stderr


def test_each_fake_is_tried() -> None:
    sys.path.insert(0, str(FAKE.parent))
    try:
        fakes = import_module("fake").fakes()
    finally:
        sys.path.remove(str(FAKE.parent))
    assert set(fakes) == {name.partition("@")[0] for name in WRONG} | set(RIGHT)
