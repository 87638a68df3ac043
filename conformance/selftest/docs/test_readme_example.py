"""Tests that the commands of the README and of the page on policies print the outputs shown there.

Pids and paths in the README's failure block may differ.
"""

from __future__ import annotations

import re
import sys

from selftest.tools import ROOT, named_block, named_output, run

README = ROOT / "README.md"
POLICIES = ROOT / "conformance" / "policies.md"
COMMAND = re.compile(
    r"^(\./ci/boxspec run --contract exec --shim 'conformance/shims/faults/.*?)  # exits 1$", re.M
)


def neutral(text: str) -> str:
    """Replace the parts that differ between checkouts and runs."""
    text = text.replace(str(ROOT), "/home/you/boxspec")
    # On a busy machine the process may be running, not asleep.
    text = re.sub(r"\d+ \(ppid \d+ pgid \d+ [RS]", "4713 (ppid 4702 pgid 4711 S", text)
    # The output cuts command lines at a fixed length, so the cut depends on the length of the
    # paths. Remove the end.
    return re.sub(r"(orphan) [^']*(')$", r"\1 …\2", text, flags=re.M)


def test_the_readme_shows_a_real_failure() -> None:
    found = COMMAND.search(README.read_text())
    assert found is not None
    done = run(["bash", "-c", found[1]], env={"CI": "", "COLUMNS": "100"})
    assert done.returncode == 1, done.stderr
    shown = done.stdout[done.stdout.index("FAIL EXEC-") :]
    assert neutral(shown) == named_output(README)


def test_the_explanation_on_the_policies_page_is_a_real_one() -> None:
    found = re.search(r"^(build/\S+ policy explain .*)$", POLICIES.read_text(), re.M)
    assert found is not None
    done = run(["bash", "-c", found[1]])
    assert (done.returncode, done.stdout) == (0, named_block(POLICIES, "explain"))


def test_the_deciding_clause_on_the_policies_page_is_a_real_one() -> None:
    found = re.search(r"^\./ci/(boxspec sbpl explain .*)  # exits 3$", POLICIES.read_text(), re.M)
    assert found is not None
    done = run([sys.executable, "-P", "-m", *found[1].split()])
    assert (done.returncode, done.stdout) == (3, named_block(POLICIES, "sbpl-explain"))
