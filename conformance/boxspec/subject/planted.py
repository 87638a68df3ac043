"""Write files that a program inside a sandbox could plant for the launcher of a later call.

If a planted file is executed, it makes a mark: a file outside, where no program inside can write.
The mark contains facts about the process that made it: its status, and its namespaces.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from boxspec.programs import programs
from boxspec.subject.observe.namespaces import NAMESPACES

PYTHON = f"python{sys.version_info[0]}.{sys.version_info[1]}"
# Modules that a launcher in Python imports, and modules that Python itself imports at its start.
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
# Modules of programs in JavaScript, in the workspace.
SCRIPTS = (
    *(f"node_modules/{name}/index.js" for name in ("fs", "path", "lodash", "commander")),
    *("index.js", ".pnp.cjs", "preload.js"),
)
# Start files of interpreters, in the home directory.
PACKAGES = tuple(
    f".local/lib/{PYTHON}/site-packages/{name}" for name in ("usercustomize.py", "start.pth")
)
PATHS = tuple(f"{folder}/{name}" for folder in IN_PATH for name in PROGRAMS)
# The names in the workspace and in the home directory, by kind.
PLANTED: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "modules": (tuple(f"{name}.py" for name in MODULES), ()),
    "programs": (PATHS, ()),
    "start files": (IN_HOME, IN_HOME),
    "others": (SCRIPTS, PACKAGES),
}

# A script in the folder of the marks, which adds the facts about its process to a mark. It is a
# file of its own, so that planted files are short: a launcher may look up each word of a file as a
# name. The script names programs by their full paths, because otherwise a planted `ls` would
# execute itself again and again.
FACTS_SCRIPT = "facts"
_LINKS = " ".join(f"/proc/self/ns/{name}" for name in NAMESPACES)
_SCRIPT = f"""\
{{ /bin/cat /proc/self/status; /bin/ls -l {_LINKS}; echo; }} >>"$1" 2>/dev/null
"""
_CALL = "/bin/sh '{script}' '{mark}'"
_PYTHON = f'import posix; posix.system("{_CALL}")\n'
_JAVASCRIPT = "require('child_process').spawnSync('/bin/sh', ['{script}', '{mark}']);\n"
_PERL = "system('/bin/sh', '{script}', '{mark}');\n"
# make runs this shell line while it reads the file, also with the option -n.
_MAKE = f"$(shell {_CALL})\n"
# By suffix, or by name if there is no suffix.
LANGUAGES = {
    **{".py": _PYTHON, ".pth": _PYTHON, ".js": _JAVASCRIPT, ".cjs": _JAVASCRIPT, ".pl": _PERL},
    **dict.fromkeys((".mk", "Makefile", "makefile", "GNUmakefile"), _MAKE),
}
SHELL = f"#!/bin/sh\n{_CALL}\n"
# A shell makes the mark in the third line, and leaves the file in the fourth. For Python these
# lines are in a string, and the last line makes the mark.
SHELL_AND_PYTHON = f"""\
#!/bin/sh
''':'
{_CALL}
return 0 2>/dev/null || exit 0
'''
{_PYTHON}"""


# git runs the program of this setting when it looks for changed files.
_GIT = f'\n[core]\n\tfsmonitor = "{_CALL}; false"\n'
LIBRARY = re.compile(r"\.(so(\.\d+)*|node)$")
# The text in planted.so that the path of the mark replaces, and the most bytes of the path.
PLACEHOLDER, MOST = b"PLANTED-MARK", 4095


def write_planted(path: Path, mark: Path, kept: str = "", name: Path | None = None) -> None:
    """Write a file that makes the mark when it is executed or loaded.

    kept: the content of the replaced file. In a script it follows the lines that make the mark.
    name: the path at which the file is planted, if it differs. It decides about the language.
    """
    name = name or path
    path.parent.mkdir(parents=True, exist_ok=True)
    script = mark.with_name(FACTS_SCRIPT)
    if not script.exists():
        script.write_text(_SCRIPT)
    if LIBRARY.search(name.name):
        path.write_bytes(_library(mark))
    elif name.parts[-2:] == (".git", "config"):
        path.write_text(kept + _marked(_GIT, mark))
    else:
        path.write_text(_marked(_language(name, kept), mark) + kept)
    path.chmod(0o755)


def shell_line(mark: Path) -> str:
    """Return a shell line that makes the mark."""
    return _marked(_CALL, mark)


def _marked(text: str, mark: Path) -> str:
    return text.replace("{mark}", str(mark)).replace("{script}", str(mark.with_name(FACTS_SCRIPT)))


def _language(name: Path, kept: str) -> str:
    if not name.suffix and "node_modules" in name.parts and ".bin" not in name.parts:
        return _JAVASCRIPT
    return LANGUAGES.get(name.suffix or name.name, SHELL if kept else SHELL_AND_PYTHON)


def _library(mark: Path) -> bytes:
    """Return a shared library that makes the mark when a program loads it."""
    library = Path(programs.preload("planted")).read_bytes()
    path = os.fsencode(mark)[:MOST] + b"\0"
    at = library.index(PLACEHOLDER)
    return library[:at] + path + library[at + len(path) :]
