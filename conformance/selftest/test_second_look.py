"""Lateness is judged when it comes again, and only then."""

from __future__ import annotations

from pathlib import Path

import pytest

from selftest.tools import TWIN, boxspec

TEST = "test_the_end_of_a_child_is_noticed_within_a_tick"

# The twin, that ends late as often as the file LEFT says after its child was slow-exit.
LATE = """#!/bin/sh
left=$(cat "{left}")
if [ "$1" = serve ] || [ "$left" -eq 0 ] || ! grep -q slow-exit "$2"; then
    exec "{twin}" "$@"
fi
echo $((left - 1)) > "{left}"
"{twin}" "$@"
sleep 3
"""


@pytest.mark.parametrize(("times", "code", "verdict"), [(1, 0, "1/1"), (99, 1, "0/1")])
def test_who_is_late_once_conforms_and_who_is_late_again_does_not(
    tmp_path: Path, times: int, code: int, verdict: str
) -> None:
    left, shim = tmp_path / "left", tmp_path / "late"
    left.write_text(str(times))
    shim.write_text(LATE.format(twin=TWIN, left=left))
    shim.chmod(0o755)
    done = boxspec("run", "--shim", shim, "-k", f"{TEST} and 40")
    assert done.returncode == code, done.stdout + done.stderr
    assert f"contract MUST {verdict}" in done.stdout
    assert ("first look" in done.stdout) is (code == 1)
    assert ("late once and not again: " in done.stdout) is (code == 0)
