"""Tests of how an adapter starts its product: descriptors, session, environment and imports."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from selftest.products.fake_product import PRODUCTS, SHIM, fake
from selftest.tools import CONFORMANCE, ask


def test_a_command_keeps_its_callers_descriptors_and_session(tmp_path: Path) -> None:
    """The adapter must not close descriptors or make a session. The verdict would then be about the
    adapter and not about its product.
    """
    file = fake(tmp_path, "return argv")
    inside = "readlink /proc/$$/fd/9; cut -d' ' -f6 /proc/$$/stat"
    message = {
        "id": "1",
        "op": "backend.run",
        "backend": "fake",
        "context": {"root": str(tmp_path), "profile": "repo-write"},
        "on_unavailable": "degrade",
        "calls": [{"request": {"program": "/bin/sh", "args": ["-c", inside]}}],
    }
    answer = ask(["/bin/sh", "-c", 'exec 9</; exec "$0" "$@"', SHIM, file], message, tmp_path)
    said = answer["result"]["calls"][0]["result"]["stdout"].split()
    session = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[3]
    assert said == ["/", session]


@pytest.fixture
def shims(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the modules of adapters importable."""
    monkeypatch.syspath_prepend(str(CONFORMANCE / "shims" / "python"))
    monkeypatch.syspath_prepend(str(CONFORMANCE / "shims"))


@pytest.mark.parametrize(
    "variable", [("--set", "{name}", "{value}"), ("-E{name}={value}",)], ids=["two words", "one"]
)
def test_the_launcher_does_not_get_the_environment_of_a_request(
    variable: tuple[str, ...], shims: None
) -> None:
    from products.adapter import Adapter

    adapter = Adapter("fake")
    adapter.variable = variable
    program = [b"/bin/true"]
    words, own = adapter.launch([b"box", b"--", *program], program, {b"GIVEN": b"inside"})
    assert b"GIVEN" not in own
    forms = [word.format(name="GIVEN", value="inside").encode() for word in variable]
    assert words == [b"box", *forms, b"--", *program]


def test_without_an_option_for_variables_a_shell_sets_them_inside(shims: None) -> None:
    from products.adapter import Adapter

    program = [b"/usr/bin/env"]
    asked = {b"LD_X": b"a b", b"odd name": b"'\n$HOME"}
    words, own = Adapter("fake").launch([b"/usr/bin/env", b"--", *program], program, asked)
    assert not {*asked} & {*own}
    assert [word for word in words for value in asked.values() if value in word] == []
    said = subprocess.run(words, env=own, capture_output=True, check=True).stdout
    assert all(name + b"=" + value in said for name, value in asked.items())
    assert b"B0=" not in said


def test_words_of_variables_come_through_a_descriptor(shims: None) -> None:
    from products.adapter import Adapter

    adapter = Adapter("fake")
    adapter.variable, adapter.reads_words = ("--set", "{name}", "{value}"), "--args"
    program = [b"/bin/true"]
    words, _ = adapter.launch([b"box", b"--", *program], program, {b"GIVEN": b"inside"})
    assert (words[:2], words[3:]) == ([b"box", b"--args"], [b"--", *program])
    given = int(words[2])
    assert os.read(given, 100) == b"--set\0GIVEN\0inside\0"
    adapter.close()
    with pytest.raises(OSError):
        os.fstat(given)


@pytest.mark.parametrize("name", ["sandlock", "nono-py"])
def test_a_python_launcher_does_not_import_from_the_workspace(name: str) -> None:
    """A confined call could write json.py into the workspace, and the next launcher would run that
    file outside the sandbox."""
    text = (PRODUCTS / "sandboxes" / f"{name.replace('-', '_')}.py").read_text()
    assert '[self.found(), "-I", "-c", CODE' in text


def test_tmpdir_is_the_workspace(shims: None) -> None:
    from products.adapter import Adapter, Asked

    assert Adapter("fake").additions(Asked("/work", "/work", "repo-write")) == {"TMPDIR": "/work"}
    assert Adapter("fake").additions(Asked("/work", "/work", "read-only")) == {}
