"""Versions of one product: NAME@VERSION, and what a release lost or gained."""

from __future__ import annotations

from pathlib import Path

import pytest

from boxspec.errors import UsageError
from boxspec.products.declared import product
from contracts.backend.products.cells import Cell, Column, State
from contracts.backend.products.releases import changes
from selftest.tools import boxspec


@pytest.mark.parametrize(
    ("word", "install"),
    [
        ("sandbox-runtime@0.0.54", "@anthropic-ai/sandbox-runtime@0.0.54"),
        ("sandbox-runtime", "@anthropic-ai/sandbox-runtime"),
        ("sandlock@0.8.2", "sandlock==0.8.2"),
        ("hakoniwa@1.8.0", "hakoniwa-cli@1.8.0"),
        ("go-landlock@v0.9.0", "github.com/landlock-lsm/go-landlock/cmd/landlock-restrict@v0.9.0"),
        ("go-landlock", "github.com/landlock-lsm/go-landlock/cmd/landlock-restrict@latest"),
    ],
)
def test_a_version_is_installed_into_a_folder_of_its_own(word: str, install: str) -> None:
    found = product(word)
    assert (found.word, found.backend, found.home.name) == (word, word, word)
    assert found.stamp.name == f"{word}.stamp"
    assert found.install[-1][-1] == install
    assert found.run[-1] == word


@pytest.mark.parametrize("word", ["bwrap@1", "go-cmd@1", "sandlock@", "no-such@1"])
def test_a_product_without_versions_is_wrong_use(word: str) -> None:
    with pytest.raises(UsageError):
        product(word)


def column(name: str, **states: State) -> Column:
    cells = [
        Cell("works inside" if test.startswith("open") else "ipc", test, test, "R", state, "", "")
        for test, state in states.items()
    ]
    return Column(name, cells=cells)


def test_a_release_lost_and_gained_attempts() -> None:
    held, escaped, refused = State.HELD, State.ESCAPED, State.OVERREFUSED
    one = column("box@1", a=held, b=escaped, c=held, d=State.NOT_MEASURED, open_x=held)
    two = column("box@2", a=escaped, b=held, c=held, d=escaped, open_x=refused)
    assert [*changes([one, column("other", a=held), two])] == [
        "box@1 to box@2: lost: a (ipc), open_x (works inside)",
        "box@1 to box@2: gained: b (ipc)",
    ]
    assert [*changes([one, one])] == ["box@1 to box@1: nothing lost, nothing gained"]
    assert [*changes([one, Column("box@3", why="does not start")])] == []


def test_a_version_with_no_adapter_for_versions_is_named(tmp_path: Path) -> None:
    done = boxspec("products", "install", "bwrap@1", cwd=tmp_path)
    assert done.returncode == 2
    assert "bwrap@1: its installation names no version (use bwrap)" in done.stderr
