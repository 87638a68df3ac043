"""Tests of the commands in the READMEs and the spec pages: each runs, and ends as the page says.

A line of a `sh` block is one command. A comment `# exits N` after it is its expected status, 0 by
default. Some words are replaced: `./my-shim` and `./glob-shim` by the examples of the protocol page
and of the page on fuzzing; `./mine/shim.py` by the template that `new-shim` copies; `./ci/test`,
which runs this test, by its first stages; and a whole `./ci/boxspec run`, which is the stage
run-release, by one topic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from selftest.tools import (
    CONFORMANCE,
    CONTRACTS,
    PROTOCOL,
    REFERENCE,
    ROOT,
    fenced,
    named_block,
    run,
)

pytestmark = pytest.mark.turns(6)

FUZZ = ROOT / "fuzz"
PAGES = [
    ROOT / "README.md",
    # The tutorials are left out, because test_tutorial.py runs their commands in order.
    *sorted({*CONFORMANCE.rglob("*.md")} - {*CONFORMANCE.glob("tutorial*.md")}),
    FUZZ / "README.md",
    FUZZ / "planted" / "README.md",
]
EXAMPLES = {
    "./my-shim": named_block(PROTOCOL, "subprocess-shim"),
    "./glob-shim": named_block(FUZZ / "README.md", "glob-shim"),
    "./mine/shim.py": (CONFORMANCE / "shims/templates/exec/python/shim.py").read_text(),
}


# Pages whose commands run at every commit; those of the other pages take turns.
EVERY_TIME = {"README.md", "conformance/verify.md"}


def commands() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for block in fenced(page, "sh"):
            for line in block.splitlines():
                if line.strip():
                    yield str(page.relative_to(ROOT)), line


@pytest.fixture(scope="module")
def shims(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write the examples to files; return the paths by the replaced words."""
    folder = tmp_path_factory.mktemp("shims")
    made = {}
    for word, text in EXAMPLES.items():
        made[word] = folder / word
        made[word].parent.mkdir(exist_ok=True)
        made[word].write_text(text)
        made[word].chmod(0o755)
    return made


@pytest.mark.parametrize(
    ("page", "line"),
    [
        pytest.param(page, line, marks=() if page in EVERY_TIME else pytest.mark.turns(6))
        for page, line in sorted(set(commands()))
    ],
)
def test_each_command_ends_as_the_page_says(page: str, line: str, shims: dict[str, Path]) -> None:
    command, _, comment = line.partition("  # ")
    said = re.search(r"exits ([0-9]+)", comment)
    command = command.strip()
    for word, path in shims.items():
        command = command.replace(word, str(path))
    if command.startswith("./ci/test"):
        command = "./ci/test setup build-release"
    if command == "./ci/boxspec run":
        command += " --topic EXEC-TEXT"
    done = run(["bash", "-c", command], within_s=600)
    assert done.returncode == int(said[1] if said else 0), done.stdout + done.stderr


def test_each_fenced_block_has_a_tested_kind() -> None:
    kinds = {
        kind
        for page in PAGES
        for kind in re.findall(r"^```(\w*)$", page.read_text(), re.M)
        if kind != ""
    }
    assert kinds <= {"sh", "json", "python", "text", "toml", "yaml"}


def test_the_policy_of_the_policy_page_loads_without_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "page.yaml"
    path.write_text(named_block(CONTRACTS["policy"] / "page.md", "policy"))
    done = run([REFERENCE, "policy", "lint", path])
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_two_commands_are_on_the_readme() -> None:
    lines = {line.partition("  # ")[0].strip() for page, line in commands() if page == "README.md"}
    assert {"./ci/boxspec run", "./ci/test"} <= lines
