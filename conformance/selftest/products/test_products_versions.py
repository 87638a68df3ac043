"""Tests of versions of one product: NAME@VERSION, and the attempts that a release lost or
gained."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from boxspec.errors import UsageError
from boxspec.products.declared import Product, product
from boxspec.products.installing import state
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


def _installed(tmp_path: Path, stamp: str) -> Product:
    """Return a declared product whose stamp has this text. Its program does not exist."""
    found = replace(product("sandlock"), here=tmp_path, version=["/nonexistent/program"], needs=[])
    found = replace(found, word=f"stale-{tmp_path.name}-{len(stamp)}")
    found.stamp.parent.mkdir(parents=True, exist_ok=True)
    found.stamp.write_text(stamp)
    return found


@pytest.mark.parametrize(
    ("stamp", "why"),
    [
        ("0" * 64, "was changed since it was installed"),
        ("cannot be installed: pip: no network", "cannot be installed: pip: no network"),
        ("", "not installed"),
    ],
    ids=["of another declaration", "of a failure", "empty"],
)
def test_a_stale_stamp_names_the_reason(tmp_path: Path, stamp: str, why: str) -> None:
    found = _installed(tmp_path, stamp)
    try:
        assert state(found).why.startswith(why)
        found.stamp.write_text(found.digest())
        assert state(found).why.startswith("its version cannot be read")
    finally:
        found.stamp.unlink()


@pytest.mark.parametrize("name", ["sandlock", "nono-py"])
def test_a_venv_has_a_python_that_each_user_can_reach(name: str) -> None:
    """A Python in the home directory of root cannot be started by a normal user."""
    (words,) = [words for words in product(name).install if "venv" in words]
    assert words[:3] == ["/usr/bin/python3", "-m", "venv"]
