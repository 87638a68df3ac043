"""Tests of boxspec-ref in a wheel: the bundled libraries, and the message if there is no CMake."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from install import reference
from selftest.tools import REFERENCE, ROOT


def test_libraries_that_the_systems_lack_are_bundled() -> None:
    found = dict(reference._needed(REFERENCE))
    assert {"libcjson.so.1", "libutf8proc.so.2", "libyaml-0.so.2"} <= {*found}
    assert not any(name.startswith(("libc.", "libm.", "ld-")) for name in found)
    assert all(path.is_file() for path in found.values())


def test_a_library_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int gone(void) { return 0; }")
    (tmp_path / "b.c").write_text("int gone(void); int main(void) { return gone(); }")
    subprocess.run(["cc", "-shared", "-o", "libgone.so", "a.c"], cwd=tmp_path, check=True)
    subprocess.run(["cc", "-o", "b", "b.c", "-L.", "-lgone"], cwd=tmp_path, check=True)
    with pytest.raises(reference.NotBuiltError, match=r"b needs libgone\.so, which is not found"):
        reference._needed(tmp_path / "b")


def test_missing_cmake_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(reference.NotBuiltError, match="cmake cannot be started: No such file"):
        reference.build(ROOT, tmp_path)
