"""What the kit does to a shim before its first instruction."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from boxspec.observe.lines import Deadline
from boxspec.observe.warden import Warden
from selftest.tools import run

NOBODY = 54_321


def test_another_user_reaches_a_shim_below_folders_that_are_closed_to_others(
    tmp_path: Path,
) -> None:
    if run(["unshare", "--mount", "true"]).returncode != 0:
        return  # Not without root: such a case is not measured then, and says so.
    folder = tmp_path / "closed" / "open" / "closed too"
    folder.mkdir(parents=True)
    shutil.copy("/bin/true", folder / "shim")
    for closed in (folder, tmp_path / "closed"):
        closed.chmod(0o700)
    with Path(os.devnull).open("r+b") as null:
        ends = {name: null.fileno() for name in ("stdin", "stdout", "stderr")}
        warden = Warden([str(folder / "shim")], flags=["--uid", str(NOBODY)], env={}, **ends)
    try:
        ended = warden.wait_exit(Deadline(20))
        assert ended is not None
        assert (ended.how, ended.number) == ("exited", 0)
    finally:
        warden.close()
    assert sorted(path.name for path in folder.iterdir()) == ["shim"]
