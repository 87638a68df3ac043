"""Every command in the README and the spec pages runs, and ends as the page says.

A line of a `sh` block is one command. `# exits N` behind it says its status; without it that is 0.
Two words are stand-ins. `./my-shim` is the example of the protocol page. `./ci/test` is what runs
this test, so here it runs its first stages only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from selftest.tools import REFERENCE, ROOT, SPEC, fenced, named_block, run

PAGES = [ROOT / "README.md", *sorted(SPEC.glob("*.md"))]


def commands() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for block in fenced(page, "sh"):
            for line in block.splitlines():
                if line.strip():
                    yield page.name, line


@pytest.fixture(scope="module")
def my_shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shim") / "my-shim"
    path.write_text(named_block(SPEC / "shim-protocol.md", "subprocess-shim"))
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(("page", "line"), sorted(set(commands())))
def test_a_command_ends_as_the_page_says(page: str, line: str, my_shim: Path) -> None:
    command, _, comment = line.partition("  # ")
    said = re.search(r"exits ([0-9]+)", comment)
    command = command.strip().replace("./my-shim", str(my_shim))
    if command.startswith("./ci/test"):
        command = "./ci/test setup build-release"
    done = run(["bash", "-c", command], within_s=600)
    assert done.returncode == int(said[1] if said else 0), done.stdout + done.stderr


def test_all_fenced_blocks_are_of_a_kind_that_a_test_looks_at() -> None:
    kinds = {
        kind
        for page in PAGES
        for kind in re.findall(r"^```(\w*)$", page.read_text(), re.M)
        if kind != ""
    }
    assert kinds <= {"sh", "json", "python", "text", "yaml"}


def test_the_policy_of_the_policy_page_loads_without_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "page.yaml"
    path.write_text(named_block(SPEC / "policy.md", "policy"))
    done = run([REFERENCE, "policy", "lint", path])
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_two_commands_are_on_the_readme() -> None:
    lines = {line.partition("  # ")[0].strip() for page, line in commands() if page == "README.md"}
    assert {"./ci/boxspec run", "./ci/test"} <= lines
