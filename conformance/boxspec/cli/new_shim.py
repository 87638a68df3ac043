"""The verb `new-shim`: write a template for a new shim."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from boxspec.cli.verbs import verb_parser
from boxspec.errors import UsageError
from boxspec.places import TEMPLATES, command_from
from boxspec.printable import one_line

# By language: the build command, if there is one, and the path of the shim.
LANGUAGES = {
    "python": ("", "shim.py"),
    "go": ("go build -o my-shim .", "my-shim"),
    "rust": ("cargo build --release", "target/release/my-shim"),
    "node": ("", "shim.mjs"),
    "c": ("make", "my-shim"),
}

EPILOG = """\
The files mark each place for your code with a comment that begins with FILL IN. Until you change
them, they run programs with the standard library of the language, and pass the trust checks."""


def new_shim(language: str, folder: Path) -> list[str]:
    """Write the template; return the next commands for a shell in the caller's folder."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(str(folder), "exists and is not empty", "name a new folder")
    shutil.copytree(TEMPLATES / language, folder, dirs_exist_ok=True, copy_function=_copy)
    build, shim = LANGUAGES[language]
    place = shlex.quote(str(folder / shim) if folder.is_absolute() else f"./{folder / shim}")
    boxspec = command_from(Path.cwd())
    smoke, run = (f"{boxspec} {verb} --shim {shlex.quote(place)}" for verb in ("smoke", "run"))
    inside = f"(cd {shlex.quote(str(folder))} && {build})"
    return [*([inside] if build else []), smoke, run]


def _copy(source: str, target: str) -> None:
    """Copy the bytes and the executable bit, but not the times and write bits of an installed
    kit."""
    shutil.copyfile(source, target)
    if Path(source).read_bytes().startswith(b"#!"):
        Path(target).chmod(0o755)


def main(words: Sequence[str]) -> int:
    parser = verb_parser("new-shim", EPILOG)
    names = tuple(LANGUAGES)
    parser.add_argument("language", metavar="LANG", choices=names, help=", ".join(names))
    parser.add_argument("folder", metavar="DIR", type=Path, help="a new folder")
    args = parser.parse_args(words)
    commands = new_shim(args.language, args.folder)
    print(one_line(f"{args.folder} has a shim; fill in the places marked FILL IN. Next:"))
    for command in commands:
        print(f"  {one_line(command)}")
    return 0
