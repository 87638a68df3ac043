"""BACKEND-LAUNCH-13: a call plants files that the launcher of a later call could execute."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from boxspec.api import HostLacks, Verdict, expect, requires
from contracts.backend.attempt import EVERYWHERE, attempted_inside
from contracts.backend.client import BackendCase
from contracts.backend.ground import Ground, made_ground
from contracts.backend.uses import PATH, shell
from contracts.shared.requests import ExecRequest

PYTHON = f"python{sys.version_info[0]}.{sys.version_info[1]}"
# Modules that a launcher in Python imports, and those that Python itself imports at its start.
MODULES = (
    *("json", "os", "re", "socket", "struct", "subprocess", "signal", "select", "ctypes"),
    *("pathlib", "shutil", "tempfile", "typing", "sitecustomize", "usercustomize"),
)
# Programs that launchers start by name.
PROGRAMS = (
    *("sh", "bash", "env", "bwrap", "python3", "node", "unshare", "nsenter", "setpriv", "sudo"),
    *("mount", "umount", "ip", "socat", "rg", "git", "uname", "id", "true", "which", "cat", "rm"),
)
IN_PATH = ("bin", ".venv/bin", "node_modules/.bin", ".")
IN_HOME = (
    *(".bashrc", ".profile", ".bash_profile", ".zshenv", ".bash_logout", ".envrc"),
    *(".config/fish/config.fish", ".config/bash/bashrc"),
)
# Modules of programs in JavaScript, and the start files of interpreters.
OTHERS = {
    **{f"node_modules/{name}/index.js": "js" for name in ("fs", "path", "lodash", "commander")},
    **dict.fromkeys(("index.js", ".pnp.cjs", "preload.js"), "js"),
    f"home/.local/lib/{PYTHON}/site-packages/usercustomize.py": "py",
    f"home/.local/lib/{PYTHON}/site-packages/start.pth": "py",
}
LANGUAGES = {
    "sh": "#!/bin/sh\n: >'{mark}'\n",
    "py": "import io; io.open('{mark}', 'w').close()\n",
    "js": "require('fs').writeFileSync('{mark}', '')\n",
}
PLANTED: dict[str, Mapping[str, str]] = {
    "modules": {f"{name}.py": "py" for name in MODULES},
    "programs": {f"{folder}/{name}": "sh" for folder in IN_PATH for name in PROGRAMS},
    "start files": {f"{folder}{name}": "sh" for folder in ("", "home/") for name in IN_HOME},
    "others": OTHERS,
}


def _seed(ground: Ground, files: Mapping[str, str]) -> Path:
    """Make the files in a directory of the root, from which a call plants them.

    A file that is executed makes a file outside, where no program inside can write.
    """
    seed = ground.ws / "seed"
    for name, language in files.items():
        path = seed / name
        path.parent.mkdir(parents=True, exist_ok=True)
        mark = ground.out / name.replace("/", "-")
        path.write_text(LANGUAGES[language].format(mark=mark))
        path.chmod(0o755)
    return seed


def _need_effect(files: Mapping[str, str]) -> None:
    with made_ground() as ground:
        name = next(iter(files))
        seed = _seed(ground, {name: "sh"})
        ground.watch()
        subprocess.run(["/bin/sh", str(seed / name)], check=False, capture_output=True)
        if not ground.changes():
            raise HostLacks("working escape attempts", "a planted script changes nothing outside")


@requires("BACKEND-LAUNCH-13", needs=["BACKEND-WRITE-01"])
@pytest.mark.parametrize("what", PLANTED)
def test_a_planted_file_is_not_executed_outside(case: BackendCase, what: str) -> None:
    _need_effect(PLANTED[what])
    with made_ground() as ground:
        seed = _seed(ground, PLANTED[what])
        (ground.ws / "home").mkdir()
        ground.watch()
        program, *args = ground.write_params("o_devices")
        calls: list[ExecRequest] = [
            ExecRequest(program="/bin/cp", args=["-R", f"{seed}/.", str(ground.ws)]),
            ExecRequest(program=program, args=args),
            shell("exit 3"),
            ExecRequest(program=str(ground.ws / "absent"), args=[]),
        ]
        paths = ":".join(str(ground.ws / each) for each in IN_PATH)
        session = case.backend.run(
            calls,
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
            shim_env={"HOME": str(ground.ws / "home"), "PATH": f"{paths}:{PATH}"},
        )
        session.need_enforcement()
        changes = ground.changes()
        if changes:
            session.excuse("fs-write", changes[0])
        expect("what planted files did outside", changes, [], verdict=Verdict.ESCAPED)
        attempted_inside(session, EVERYWHERE, 1)
        planted = all((ground.ws / name).exists() for name in PLANTED[what])
        expect("whether the files are planted", planted, True, verdict=Verdict.UNPROVEN)
