"""Tests that files which the command leaves neither stop nor crash `boxspec verify`."""

from __future__ import annotations

from pathlib import Path

import pytest

from boxspec.subject.observe.facts import LEVELS_MOST, content, facts_of, tree
from selftest.verify.wrappers import LEAKED, NOT_TESTED, verify, wrapper

pytestmark = pytest.mark.turns(6)

# For each kind of file, the lines of a wrapper before and after the program, and the status of the
# row `remains`.
FILES = {
    "fifos": ('for each in ~/.ssh/*; do rm "$each"; mkfifo "$each"; done', "", LEAKED),
    "links to a device": ("", 'for each in ~/.*rc; do ln -sf /dev/zero "$each"; done', LEAKED),
    "a huge file": ("", "truncate -s 1T ~/.bashrc ~/huge", LEAKED),
    "a deep folder": (
        "",
        "cd ~ && for each in $(seq 1500); do mkdir d && cd -P d; done 2>/dev/null",
        LEAKED,
    ),
    "output without an end": ("", "yes", NOT_TESTED),
}


@pytest.mark.parametrize("what", FILES)
def test_files_of_the_command_do_not_stop_the_kit(tmp_path: Path, what: str) -> None:
    before, after, status = FILES[what]
    box = wrapper(tmp_path, "box.sh", f'{before}\n"$@"\nstatus=$?\n{after}\nexit $status\n')
    found = verify(tmp_path, "--row", "remains", "--", box)
    assert found.statuses == {"remains": status}, found.done.stdout


def test_only_the_content_of_regular_files_is_read(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"0123456789")
    link.symlink_to(file)
    assert content(link, 4) == b"0123"
    assert content(Path("/dev/zero")) is None
    assert content(tmp_path) is None
    assert content(tmp_path / "missing") is None


def test_a_tree_ends_at_its_deepest_level(tmp_path: Path) -> None:
    deepest = tmp_path.joinpath(*["d"] * (LEVELS_MOST + 2))
    deepest.mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path)
    assert len(tree(tmp_path)) == LEVELS_MOST + 1
    assert facts_of(tmp_path / ("x" * 300)) == ()
