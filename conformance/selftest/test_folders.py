"""Tests of the folders of killed runs: the next run removes them, also if several runs start at
once."""

from __future__ import annotations

import json
from pathlib import Path

from boxspec.folders import delete, remove_listed


def test_a_listed_folder_is_removed_and_then_its_entry(tmp_path: Path) -> None:
    folder, entry = tmp_path / "folder", tmp_path / "entry"
    (folder / "below").mkdir(parents=True)
    entry.write_text(json.dumps(str(folder)) + "\n")
    remove_listed(entry, delete)
    assert list(tmp_path.iterdir()) == []


def test_an_entry_stays_if_its_folder_stays(tmp_path: Path) -> None:
    entry = tmp_path / "entry"
    entry.write_text(json.dumps(str(tmp_path / "folder")) + "\n")
    remove_listed(entry, lambda path: False)
    assert entry.exists()


def test_an_entry_that_another_run_removed_is_no_error(tmp_path: Path) -> None:
    remove_listed(tmp_path / "entry", delete)
