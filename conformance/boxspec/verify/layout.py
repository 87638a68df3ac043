"""The folders and variables that all scenes of a run share."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from boxspec.places import ROOT, case_root

# These variables would lead a command to the user's own files, or were set by the shell for the
# kit.
DROPPED = (
    *("OLDPWD", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "_"),
    *("XAUTHORITY", "ICEAUTHORITY", "HISTFILE", "GNUPGHOME", "KUBECONFIG", "DOCKER_CONFIG"),
    *("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "GOOGLE_APPLICATION_CREDENTIALS"),
    *("NPM_CONFIG_USERCONFIG", "PIP_CONFIG_FILE", "NETRC", "PGPASSFILE", "GIT_CONFIG_GLOBAL"),
    *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PASSWORD_STORE_DIR"),
)


def parents() -> list[Path]:
    """Return the folders below which a scene may lie, in a random order.

    If a command confines only below one folder, scenes in several folders reveal it. /tmp is left
    out, because many sandboxes mount a new /tmp.
    """
    found = [case_root().parent]
    with contextlib.suppress(RuntimeError, OSError):
        home = Path.home().resolve()
        here = home.stat().st_dev == found[0].stat().st_dev
        if here and "BOXSPEC_CASE_ROOT" not in os.environ and os.access(home, os.W_OK | os.X_OK):
            found.append(home)
    return secrets.SystemRandom().sample(found, len(found))


@dataclass(frozen=True)
class Layout:
    """The folders that all scenes of a run share. If a folder is None, each scene has its own.

    home, root: the user's real home directory and workspace. The kit makes and changes only files
        with random names in them.
    copied: a folder; each workspace starts as a copy of it.
    """

    home: Path | None = None
    root: Path | None = None
    copied: Path | None = None

    @property
    def flags(self) -> tuple[str, ...]:
        """Return the options that select these folders."""
        if self.home is not None:
            return ("--real-home",)
        return ("--root", str(self.copied)) if self.copied is not None else ()


def without_the_kit(caller: Mapping[str, str], dropped: Collection[str]) -> dict[str, str]:
    """Return the caller's variables without `dropped`, and without values that name the kit."""
    kept = {
        name: value
        for name, value in caller.items()
        if name not in dropped and not _names_the_kit(f"{name}={value}")
    }
    path = caller.get("PATH", os.defpath).split(os.pathsep)
    return {**kept, "PATH": os.pathsep.join(each for each in path if not _names_the_kit(each))}


def _names_the_kit(text: str) -> bool:
    return str(ROOT) in text or "boxspec" in text.lower()
