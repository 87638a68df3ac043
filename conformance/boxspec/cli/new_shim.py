"""The verb `new-shim`: write a template for a new shim."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from boxspec.cli.verbs import verb_parser
from boxspec.errors import UsageError
from boxspec.places import TEMPLATES, command_from
from boxspec.printable import one_line


class Language(NamedTuple):
    shim: str  # path of the shim in the new folder
    build: str = ""  # command that builds the shim
    needs: str = ""  # libraries that the build needs


LANGUAGES = {
    "python": Language("shim.py"),
    "go": Language("my-shim", "go build -o my-shim ."),
    "rust": Language("target/release/my-shim", "cargo build --release"),
    "node": Language("shim.mjs"),
    "c": Language("my-shim", "make", "cJSON and pkg-config (Debian: apt-get install libcjson-dev)"),
}
# The folder with the files of a language that the templates of all contracts except exec have in
# common.
SHARED = "shared"
# Topics of exec with required rules that the standard library of some language breaks. In the
# templates of the other contracts, small implementations keep all required rules but LACKS.
TOPICS = ("CHILD", "ENV", "KILL", "ORPHAN", "SIGNAL", "SPAWN", "STDIN", "TEXT", "TIMEOUT", "WAIT")
YOURS = tuple(f"EXEC-{topic}" for topic in TOPICS)
# The required rules that a template of another contract breaks because of its language.
LACKS = {
    ("process", "node"): {
        "PROCESS-WAIT-01": "Node reports a death by a real-time signal as exit code 0"
    }
}

EPILOG = """\
The files mark each place for your code with a comment that begins with FILL IN. Until you change
them, the shim works with the standard library of the language (for the contract backend: with
bubblewrap), and passes the trust checks."""


def contracts() -> dict[str, list[str]]:
    """Return the contracts that have templates, each with its languages."""
    return {
        folder.name: [name for name in LANGUAGES if (folder / name).is_dir()]
        for folder in sorted(TEMPLATES.iterdir())
        if folder.is_dir() and folder.name != SHARED
    }


def new_shim(language: str, folder: Path, contract: str = "exec") -> list[str]:
    """Write the template; return the next commands for a shell in the caller's folder."""
    known = contracts()[contract]
    if language not in known:
        raise UsageError(
            f"--contract {contract}", f"has no template in {language}", f"take {' or '.join(known)}"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(str(folder), "exists and is not empty", "name a new folder")
    sources = [TEMPLATES / contract / language]
    if contract != "exec":
        sources.append(TEMPLATES / SHARED / language)
    for source in sources:
        shutil.copytree(
            source,
            folder,
            dirs_exist_ok=True,
            copy_function=_copy,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    shim, build, _ = LANGUAGES[language]
    place = shlex.quote(str(folder / shim) if folder.is_absolute() else f"./{folder / shim}")
    boxspec = command_from(Path.cwd())
    verbs = {"smoke": "smoke", "run": f"run --contract {contract}"}
    smoke, run = (f"{boxspec} {verb} --shim {shlex.quote(place)}" for verb in verbs.values())
    inside = f"(cd {shlex.quote(str(folder))} && {build})"
    return [*([inside] if build else []), smoke, run]


def _available(known: Mapping[str, Sequence[str]]) -> str:
    """Name the contracts, each with its languages if it lacks some."""
    return ", ".join(
        name if len(known[name]) == len(LANGUAGES) else f"{name} ({' or '.join(known[name])})"
        for name in known
    )


def _copy(source: str, target: str) -> None:
    """Copy the bytes and the executable bit.

    An installed kit may have other times, and no write permissions.
    """
    shutil.copyfile(source, target)
    if Path(source).read_bytes().startswith(b"#!"):
        Path(target).chmod(0o755)


def main(words: Sequence[str]) -> int:
    parser = verb_parser("new-shim", EPILOG)
    names, known = tuple(LANGUAGES), contracts()
    parser.add_argument("language", metavar="LANG", choices=names, help=", ".join(names))
    parser.add_argument("folder", metavar="DIR", type=Path, help="a new folder")
    parser.add_argument(
        "--contract",
        metavar="NAME",
        choices=known,
        default="exec",
        help=f"{_available(known)} (default: exec)",
    )
    args = parser.parse_args(words)
    commands = new_shim(args.language, args.folder, args.contract)
    print(one_line(f"{args.folder} has a shim; fill in the places marked FILL IN. Next:"))
    for command in commands:
        print(f"  {one_line(command)}")
    if args.contract == "exec":
        topics = ", ".join(YOURS)
        print(f"The standard library lacks part of exec. Failures of {topics} are yours to fix.")
    for requirement, why in LACKS.get((args.contract, args.language), {}).items():
        print(f"{why}. The failure of {requirement} is yours to fix.")
    if needs := LANGUAGES[args.language].needs:
        print(f"The build needs {needs}.")
    return 0
