"""The tutorial from start to end: its commands run, its changes are applied, and the shown parts of
an answer are in the answer."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from selftest.tools import CONFORMANCE, run

PAGE = CONFORMANCE / "tutorial.md"


def changed(text: str, change: str) -> str:
    """Apply a diff of the tutorial to `text`.

    Its parts have no line numbers; the unchanged lines say where they belong.
    """
    for hunk in change.split("@@\n")[1:]:
        lines = hunk.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if line[0] in " -")
        new = "".join(line[1:] for line in lines if line[0] in " +")
        assert text.count(old) == 1, f"{text.count(old)} places for this hunk:\n{hunk}"
        text = text.replace(old, new)
    return text


def kit(folder: Path) -> dict[str, str]:
    """Return an environment in which `boxspec` is the kit of this tree."""
    (folder / "boxspec").write_text(f'#!/bin/sh\nexec {sys.executable} -P -m boxspec "$@"\n')
    (folder / "boxspec").chmod(0o755)
    # Use this python3 for the shim: with a version manager, `python3` would be a shell script that
    # delays each run.
    return {"PATH": f"{folder}:{Path(sys.executable).parent}:{os.environ['PATH']}"}


@pytest.mark.long
def test_the_tutorial_works_as_written(tmp_path: Path) -> None:
    bin_folder, work = tmp_path / "bin", tmp_path / "work"
    bin_folder.mkdir()
    work.mkdir()
    env, said = kit(bin_folder), ""
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    for kind, text in blocks:
        if kind == "diff":
            file = work / re.search(r"^--- (.*)$", text, re.M)[1]  # type: ignore[index]
            file.write_text(changed(file.read_text(), text))
        elif kind == "text":
            missing = [line for line in text.splitlines() if line.strip() not in said]
            assert not missing, f"not in the answer: {missing}\n{said}"
        else:
            assert kind == "sh"
            command, _, exits = text.strip().partition("  # exits ")
            done = run(["sh", "-c", command], cwd=work, env=env, within_s=600)
            said = done.stdout + done.stderr
            assert done.returncode == int(exits or 0), f"{command}\n{said}"
    assert [kind for kind, _ in blocks].count("diff") == 5
