"""Install products, and find out whether a product can be judged on this host."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from boxspec.errors import UsageError
from boxspec.places import ROOT
from boxspec.printable import one_line
from boxspec.products.declared import Product, to_install

# Time limit of an installation: the longest ones compile a product and all its dependencies.
WITHIN_S = 1800
PRINT_S = 60


@dataclass(frozen=True)
class State:
    """The state of a product on this host.

    version: empty if the product cannot be judged here.
    why: the reason if the product cannot be judged here.
    """

    version: str = ""
    why: str = ""


class Failed(Exception):
    """Raised if a command failed. The message has one line."""


def state(product: Product) -> State:
    if product.not_judged:
        return State(why=f"not judged: {product.not_judged}")
    missing = [name for name in product.needs if shutil.which(name) is None]
    if missing:
        return State(why=f"there is no {', '.join(missing)}")
    stamp = product.stamp.read_text(encoding="utf-8") if product.stamp.exists() else ""
    installed = not product.commands or stamp == product.digest()
    if not installed and not product.anywhere:
        return State(why=_not_installed(product, stamp, ""))
    try:
        lines = output(product.argv(product.version), PRINT_S).splitlines()
    except Failed as why:
        if installed:
            return State(why=f"its version cannot be read: {why}")
        return State(why=_not_installed(product, stamp, str(why)))
    return State(version=one_line(lines[0].strip()) if lines else "")


def _not_installed(product: Product, stamp: str, why: str) -> str:
    if stamp.startswith("cannot "):
        return f"{stamp}: {to_install(product)}"
    problem = "was changed since it was installed" if stamp else "not installed"
    # A user of the product does not know shim.py, so its name is removed from the message.
    reason = why.removeprefix("shim.py: ")
    return f"{problem}{f' ({reason})' if reason else ''}: {to_install(product)}"


def why_not_started(product: Product) -> str:
    """Return the reason why an installed product does not start on this host, or an empty
    string."""
    if product.starts:
        try:
            output(product.argv(product.starts), PRINT_S)
        except Failed as why:
            return str(why)
    return ""


def install(product: Product) -> State:
    """Install the product from scratch. A failure is recorded in the stamp."""
    try:
        _make_home(product)
        for words in product.commands:
            if not _packages_present(words):
                argv = _as_root(words)
                print(one_line(f"+ {' '.join(argv)}"), flush=True)
                output(argv, WITHIN_S)
        stamp = product.digest()
    except Failed as why:
        stamp = f"cannot be installed: {why}"
    try:
        product.stamp.parent.mkdir(parents=True, exist_ok=True)
        product.stamp.write_text(stamp, encoding="utf-8")
    except PermissionError as why:
        # No stamp can be written, because the checkout belongs to another user. Only a product
        # that lies outside of the checkout works without a stamp.
        if stamp.startswith("cannot "):
            return State(why=stamp)
        if not product.anywhere:
            raise UsageError(
                str(why.filename), "cannot be written", "install as its owner"
            ) from why
    return state(product)


def _make_home(product: Product) -> None:
    if not any("{home}" in word for words in (*product.install, *product.build) for word in words):
        return
    shutil.rmtree(product.home, ignore_errors=True)
    try:
        product.home.mkdir(parents=True, exist_ok=True)
    except OSError as why:
        raise Failed(f"{product.home}: {why.strerror}") from None
    if not os.access(product.home, os.W_OK):
        raise Failed(f"{product.home} belongs to another user; install as that user")


def _packages_present(words: Sequence[str]) -> bool:
    """True if the command is an apt-get whose packages are all installed.

    The command then needs no root privileges.
    """
    if words[0] != "apt-get":
        return False
    names = [word for word in words[1:] if word != "install" and not word.startswith("-")]
    try:
        found = output(["dpkg-query", "--show", "--showformat=${db:Status-Status}\n", *names], 60)
    except Failed:
        return False
    return found.split() == ["installed"] * len(names)


def _as_root(words: Sequence[str]) -> list[str]:
    if words[0] != "apt-get" or os.geteuid() == 0:
        return list(words)
    if shutil.which("sudo") is None:
        raise Failed(f"root rights are needed, and there is no sudo: {' '.join(words)}")
    return ["sudo", *words]


def output(words: Sequence[str], within_s: float) -> str:
    """Return the output of a command.

    Raise Failed if the command cannot be run, takes too long or does not exit with 0.
    """
    name = Path(words[0]).name
    try:
        done = subprocess.run(
            words,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=within_s,
            check=False,
        )
    except OSError as why:
        raise Failed(f"{name}: {why.strerror}") from None
    except subprocess.TimeoutExpired:
        raise Failed(f"{name} does not end within {within_s:g} s") from None
    if done.returncode:
        lines = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
        errors = [line for line in lines if "error" in line.lower()] or lines or ["no output"]
        raise Failed(one_line(f"{name}: {errors[-1].strip()}"))
    return (done.stdout or done.stderr).decode("utf-8", "replace")
