"""BACKEND-WRITE: the content of the root, or a policy, never makes a further path writable.

Only the profile grants access to a path.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from boxspec.api import HostLacks, Verdict, expect, requires, written
from contracts.backend.attempt import control, expect_nothing_outside, inside, judge
from contracts.backend.client import BackendCase
from contracts.backend.ground import made_ground
from contracts.backend.ruled import line_inside, planted, policy
from contracts.backend.scene import made_scene

# Files in which tools look for the names of other directories. {out} is a directory outside the
# root.
NAMING = {
    ".gitmodules": '[submodule "m"]\n\tpath = {out}\n',
    ".cargo/config.toml": '[build]\ntarget-dir = "{out}"\n',
    ".npmrc": "cache={out}\nprefix={out}\n",
    ".yarnrc.yml": "cacheFolder: {out}\n",
    ".bazelrc": "startup --output_base={out}\n",
    ".envrc": "export TMPDIR={out} HOME={out} XDG_CACHE_HOME={out}\n",
    ".env": "TMPDIR={out}\nHOME={out}\nXDG_CACHE_HOME={out}\n",
    ".vscode/settings.json": '{"python.venvPath": "{out}"}\n',
    "all.code-workspace": '{"folders": [{"path": "{out}"}]}\n',
    ".idea/misc.xml": '<project><output url="file://{out}" /></project>\n',
    "go.work": "go 1.22\nuse {out}\n",
    "pyvenv.cfg": "home = {out}\n",
    "CMakeCache.txt": "CMAKE_HOME_DIRECTORY:INTERNAL={out}\n",
    ".claude/settings.json": '{"permissions": {"additionalDirectories": ["{out}"]}}\n',
    ".codex/config.toml": '[sandbox_workspace_write]\nwritable_roots = ["{out}"]\n',
    ".gemini/settings.json": '{"includeDirectories": ["{out}"]}\n',
    ".devcontainer/devcontainer.json": '{"mounts": ["type=bind,source={out},target={out}"]}\n',
    ".sandbox/allow": "{out}\n",
}
GIT: dict[str, dict[str, str]] = {
    "a file": {".git": "gitdir: {out}\n"},
    "a directory": {
        ".git/HEAD": "ref: refs/heads/main\n",
        ".git/config": "[core]\n\tworktree = {out}\n[include]\n\tpath = {out}/file\n",
        ".git/commondir": "{out}\n",
        ".git/objects/info/alternates": "{out}\n",
        ".git/worktrees/w/gitdir": "{out}/.git\n",
        ".git/modules/m/config": "[core]\n\tworktree = {out}\n",
    },
}


@requires("BACKEND-WRITE-01")
@pytest.mark.parametrize("git", GIT)
@pytest.mark.parametrize("profile", ["repo-write", "full-dev"])
def test_no_file_in_the_root_grants_a_place_outside(
    case: BackendCase, profile: str, git: str
) -> None:
    case.backend.need_sessions_that_return()
    control("w_create")
    with made_scene("w_create") as scene:
        for name, text in (NAMING | GIT[git]).items():
            planted(scene.ground, name).write_text(text.replace("{out}", str(scene.ground.out)))
        judge(scene, *inside(case, scene, profile))


# Policies with denies, exceptions, and grants that are narrower than the root.
POLICIES: dict[str, dict[str, Any]] = {
    "a deny below": policy(("a/b/kept",)),
    "a tree": policy(("a/**",)),
    "an exception": policy(("a/**", "!a/b/**")),
    "a deny of reading": policy(deny_read=("a/b/kept",)),
    "a pattern": policy(("**/kept",)),
    "a grant": policy(("a/b/kept",), modify=("a/**",)),
    "a grant of a file": policy(modify=("a/file",)),
}
PLACES = (".", "a", "a/b", "a/b/c", "other")


@requires("BACKEND-WRITE-04", capability="backend.policy", needs=["BACKEND-CONTEXT-01"])
@pytest.mark.parametrize("rules", POLICIES)
def test_no_policy_opens_a_read_only_root(case: BackendCase, rules: str) -> None:
    with made_ground() as ground:
        for place in PLACES:
            planted(ground, f"{place}/file")
        planted(ground, "a/b/kept")
        before = _content(ground.ws)
        line = f"""for d in {" ".join(PLACES)}; do
    (: >$d/new; echo x >>$d/file; mv $d/file $d/moved; mkdir $d/made) 2>/dev/null
done; echo tried"""
        session = line_inside(case, ground, line, POLICIES[rules], profile="read-only")
        tried = session.only.stdout if session.only.ok else session.only.error
        expect("exit code of the script", tried, b"tried\n", verdict=Verdict.UNPROVEN)
        changed = sorted({*before.items()} ^ {*_content(ground.ws).items()})
        if changed:
            session.excuse("fs-write", changed[0][0])
        expect("changes of the root", changed, [], verdict=Verdict.CONTRADICTION)


def _content(root: Path) -> dict[str, str]:
    """Return each path below the root. For a file, the value is its text."""
    return {
        str(path.relative_to(root)): written(path).decode(errors="replace")
        if path.is_file()
        else ""
        for path in root.rglob("*")
    }


# The script opens a few files of each directory for appending, without writing. $1 is the ground of
# the test.
OPENS = r"""for folder in / /boot /etc /home /mnt /opt /root /run /srv /usr /usr/lib /usr/local \
    /var /var/cache /var/lib /var/log /var/spool; do
    find "$folder" -xdev -maxdepth 3 -type f -writable ! -path "$1/*" 2>/dev/null | head -n 3 |
        while IFS= read -r file; do (: >>"$file") 2>/dev/null && echo "$file"; done
done; echo looked"""


@requires("BACKEND-WRITE-01")
def test_no_file_of_the_system_is_opened_for_writing(case: BackendCase) -> None:
    with made_ground() as ground:
        words = ["-c", OPENS, "sh", str(ground.folder)]
        outside = subprocess.run(["/bin/sh", *words], check=False, capture_output=True, text=True)
        if outside.stdout.split() == ["looked"]:
            raise HostLacks(
                "working escape attempts",
                "no file of the system can be opened for writing here even without a sandbox",
            )
        session = case.backend.run(
            [{"program": "/bin/sh", "args": words}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
            shim_env={"HOME": str(ground.home)},
        )
        session.need_enforcement()
        *opened, looked = session.only.stdout.decode().splitlines() or ["nothing"]
        expect("how the program that opens the files ended", looked, "looked")
        expect_nothing_outside(session, opened, "opened for writing")


# Directories in which each user may create files. A sandbox may replace them by private ones.
SHARED = ("/dev/shm", "/tmp", "/var/tmp")
FILES = ("appended", "emptied", "removed", "renamed", "replaced")
CHANGES = r"""for folder do
    (echo more >>"$folder/appended"); (: >"$folder/emptied"); rm -f "$folder/removed"
    mv -f "$folder/renamed" "$folder/new"; (echo new >"$folder/x") &&
        mv -f "$folder/x" "$folder/replaced"
done 2>/dev/null; echo tried"""


@contextmanager
def _filled(place: str) -> Iterator[Path]:
    """Make a directory with files in a shared directory."""
    try:
        made = tempfile.TemporaryDirectory(dir=place)
    except OSError as why:
        raise HostLacks("working escape attempts", f"{place}: {why.strerror}") from None
    with made as folder:
        for name in FILES:
            Path(folder, name).write_text("kept\n")
        yield Path(folder)


@requires("BACKEND-WRITE-01", needs=["BACKEND-LAUNCH-07"])
def test_no_file_in_a_shared_directory_is_changed(case: BackendCase) -> None:
    with made_ground() as ground, ExitStack() as stack:
        folders = [stack.enter_context(_filled(place)) for place in SHARED]
        before = {folder: _content(folder) for folder in folders}
        with _filled(SHARED[0]) as own:
            unchanged = _content(own)
            subprocess.run(["/bin/sh", "-c", CHANGES, "sh", str(own)], check=False)
            if any(_content(own).get(name) == unchanged[name] for name in FILES):
                raise HostLacks("working escape attempts", f"{own}: no change outside either")
        session = case.backend.run(
            [{"program": "/bin/sh", "args": ["-c", CHANGES, "sh", *map(str, folders)]}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        )
        session.need_enforcement()
        tried = session.only.stdout if session.only.ok else session.only.error
        expect(
            "output of the program that tries changes", tried, b"tried\n", verdict=Verdict.UNPROVEN
        )
        changed = [
            f"{folder}/{name}"
            for folder, texts in before.items()
            for name in sorted({path for path, _ in texts.items() ^ _content(folder).items()})
        ]
        expect_nothing_outside(session, changed, "a file in a shared directory")
