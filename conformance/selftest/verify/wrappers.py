"""Wrappers for the self-tests of `boxspec verify`, and a function that verifies one."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from selftest.tools import CONFORMANCE, Done, run

LEAKED, HELD, NOT_TESTED = "LEAKED", "held", "not tested"

# A wrapper that hides home and environment; files that later programs execute are read-only.
# bubblewrap leaves an empty file at a mount point that did not exist.
CAREFUL = """\
mkdir -p .vscode .claude .cursor .gemini .codex .idea .devcontainer .zed .git/modules
echo . >.git/commondir
hidden=$(find . -name '.env*' -type f | sed "s|^[.]|--ro-bind /dev/null $PWD|")
env -i PATH=/usr/bin:/bin HOME="$HOME" bwrap --unshare-all --die-with-parent --new-session \\
  --cap-drop ALL --ro-bind / / --dev /dev --proc /proc --ro-bind /proc/sys /proc/sys \\
  --tmpfs /tmp --tmpfs /run --tmpfs "$HOME" \\
  --bind "$PWD" "$PWD" --bind "$PWD/.git" "$PWD/.git" \\
  --ro-bind "$PWD/.git/hooks" "$PWD/.git/hooks" --ro-bind "$PWD/.git/config" "$PWD/.git/config" \\
  --ro-bind "$PWD/.git/modules" "$PWD/.git/modules" \\
  --ro-bind "$PWD/.git/commondir" "$PWD/.git/commondir" \\
  --ro-bind "$PWD/.idea" "$PWD/.idea" --ro-bind "$PWD/.zed" "$PWD/.zed" \\
  --ro-bind "$PWD/.devcontainer" "$PWD/.devcontainer" $hidden \\
  --ro-bind "$PWD/.vscode" "$PWD/.vscode" --ro-bind "$PWD/.claude" "$PWD/.claude" \\
  --ro-bind "$PWD/.cursor" "$PWD/.cursor" --ro-bind "$PWD/.gemini" "$PWD/.gemini" \\
  --ro-bind "$PWD/.codex" "$PWD/.codex" --ro-bind /dev/null "$PWD/opencode.json" \\
  --ro-bind /dev/null "$PWD/.mcp.json" --chdir "$PWD" -- "$@"
status=$?
rm -f .git/commondir
for each in .mcp.json opencode.json; do [ -s $each ] || rm -f $each; done
exit $status
"""
# A typical wrapper: it restricts writing, but everything can be read.
USUAL = """\
exec bwrap --unshare-all --die-with-parent --cap-drop ALL --ro-bind / / --dev /dev --proc /proc \\
  --tmpfs /tmp --bind "$PWD" "$PWD" {more} -- "$@"
"""
HIDES = '--tmpfs "$HOME/.ssh" --ro-bind /dev/null "$PWD/.env"'


@cache
def without_bubblewrap() -> str:
    """Return the reason if bubblewrap does not work here, otherwise ""."""
    if shutil.which("bwrap") is None:
        return "bwrap is not installed"
    words = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stderr.strip()


def wrapper(folder: Path, name: str, body: str) -> Path:
    """A script that starts its arguments as a program."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}")
    path.chmod(0o755)
    return path


@dataclass(frozen=True)
class Verified:
    """One run of the verb: its output and its JSON."""

    done: Done
    plain: dict[str, Any]

    @property
    def rows(self) -> dict[str, dict[str, Any]]:
        return {row["id"]: row for row in self.plain["rows"]}

    @property
    def statuses(self) -> dict[str, str]:
        return {name: row["status"] for name, row in self.rows.items()}

    @property
    def denied(self) -> dict[str, str]:
        """The statuses of the rows that deny something."""
        rows = self.rows.items()
        return {name: row["status"] for name, row in rows if row["expected"] == "kept out"}


# Namespaces for a run whose command leaves objects on the host.
OWN_NAMESPACES = ("unshare", "--mount", "--propagation", "private", "--ipc", "--net")
# $0 is the shell line of a program that runs at the same time.
OWN_PLACES = """
mount -t tmpfs none /run && mkdir /run/lock && mount --bind "$PWD" /run/lock
mount -t tmpfs none /dev/shm
case $PWD in /dev/shm/*) mkdir -p "$PWD" && mount --bind /run/lock "$PWD" && cd "$PWD" ;; esac
umount /run/lock
[ -d "$TMPDIR" ] || unset TMPDIR
ip link set lo up
sh -c "$0" & beside=$!
"$@"; status=$?
kill $beside 2>/dev/null; exit $status"""


def verify(
    folder: Path, *words: str | Path, own_places: bool = False, beside: str = ":", **how: Any
) -> Verified:
    """Run it in a folder; the words are those after `verify`.

    own_places: run it in new namespaces, so that other runs do not see the objects that the
        command leaves. Needs root.
    beside: a shell line of another program of the user, for own_places.
    """
    result = folder / "result.json"
    env = {"PYTHONPATH": str(CONFORMANCE), **how.pop("env", {})}
    kit: list[str | Path] = [sys.executable, "-P", "-m", "boxspec"]
    if own_places:
        kit = [*OWN_NAMESPACES, "sh", "-c", OWN_PLACES, beside, *kit]
    done = run([*kit, "verify", "--json", result, *words], cwd=folder, env=env, **how)
    assert result.exists(), f"exit {done.returncode}: {done.stdout}{done.stderr}"
    return Verified(done, json.loads(result.read_text()))
