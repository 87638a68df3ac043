"""Start a shim process below a warden, with its user and its environment."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from boxspec.judge.verdict import HostLacks, NotMeasured
from boxspec.places import for_others
from boxspec.subject.observe.warden import ShimNotExecuted, Warden

# A file in the folder of an exchange. Each preloaded library writes to it the process that has
# loaded the library.
PRELOADED = "preloaded"

# Prefixes of the variables of the kit and of pytest.
OF_A_TEST = ("BOXSPEC_", "PYTEST_")

# Environment variables of the shim; None removes a variable.
ShimEnv = Mapping[str, str | os.PathLike[str] | None]


def uid_for_shim(flags: Sequence[str]) -> int | None:
    """Return the user that the warden flags select for the shim, or None for the user of the kit.

    If several flags select a user, the last one counts.
    """
    users = [uid for flag, uid in pairwise(flags) if flag == "--uid"]
    return int(users[-1]) if users else None


def environment(
    ours: Mapping[str, str],
    flags: Sequence[str],
    folder: Path,
    changes: ShimEnv,
    *,
    shown: bool = True,
) -> dict[str, str]:
    """Return the environment of a shim whose files are in this folder.

    shown: True to include the variables of the kit. A sandbox must not get them, because it could
        recognise a test by them.
    """
    env = dict(ours) if uid_for_shim(flags) is None else for_others(ours)
    if shown:
        env["BOXSPEC_SHIM_LOG"] = str(folder / "shim.log")
    else:
        env = {name: value for name, value in env.items() if not name.startswith(OF_A_TEST)}
    for name, value in changes.items():
        env.pop(name, None)
        if value is not None:
            env[name] = os.fspath(value)
    if "--preload" in flags or "--nocldwait" in flags:
        env["BOXSPEC_PRELOADED"] = str(folder / PRELOADED)
        (folder / PRELOADED).touch()
        (folder / PRELOADED).chmod(0o666)
    return env


def start(
    argv: Sequence[str],
    flags: Sequence[str],
    env: Mapping[str, str],
    fds: Mapping[str, int],
    *,
    asked: Sequence[str] = (),
) -> Warden:
    """Start a warden, which starts the shim.

    fds: the three streams of the shim.
    asked: the flags that the case itself wants. They explain a failed start: the case may have
        selected another user who lacks access, or a low limit.
    """
    three = {name: fds[name] for name in ("stdin", "stdout", "stderr")}
    try:
        return Warden(argv, flags=flags, env=env, **three)
    except ShimNotExecuted as why:
        if why.code == errno.EACCES and _any_of(asked, "--uid", "--no-override"):
            reached = f"{argv[0]} cannot be reached by another user than root: move the checkout"
            raise HostLacks("other users", reached) from None
        if why.code == errno.EAGAIN:
            full = f"{argv[0]} cannot be started: its user has as many processes as it may have"
            if _any_of(asked, "--uid", "--nproc"):
                raise HostLacks("processes", full) from None
            # All cases run as this user, so the processes of the shim may have reached the user's
            # limit.
            raise NotMeasured(full) from None
        raise


def _any_of(flags: Sequence[str], *wanted: str) -> bool:
    return not set(wanted).isdisjoint(flags)
