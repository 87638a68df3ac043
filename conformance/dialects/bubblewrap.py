"""bubblewrap: a captured argument list, as shell words or as a list in JSON.

Written for bubblewrap 0.8 to 0.11, from its manual page bwrap(1) (as of 2026-11). Options are
carried out in their order; a later mount covers an earlier one.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from dataclasses import dataclass, replace

from boxspec.verify.meaning import Entry, Meaning, Where
from dialects.entries import ALL_OF_HOME, NO_ROW, covers, has_home

NAMES = ("bwrap", "bubblewrap")
WRITTEN_FOR = "bubblewrap 0.8 to 0.11, 2026-11"
# Options by the number of their words.
NONE = (
    *("--unshare-all", "--share-net", "--unshare-user", "--unshare-user-try", "--unshare-ipc"),
    *("--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup"),
    *("--unshare-cgroup-try", "--disable-userns", "--assert-userns-disabled", "--clearenv"),
    *("--new-session", "--die-with-parent", "--as-pid-1", "--help", "--version"),
)
ONE = (
    *("--args", "--argv0", "--level-prefix", "--userns", "--userns2", "--pidns", "--uid", "--gid"),
    *("--hostname", "--chdir", "--unsetenv", "--lock-file", "--sync-fd", "--remount-ro", "--proc"),
    *("--exec-label", "--file-label", "--dev", "--tmpfs", "--mqueue", "--dir", "--seccomp"),
    *("--add-seccomp-fd", "--block-fd", "--userns-block-fd", "--info-fd", "--json-status-fd"),
    *("--cap-add", "--cap-drop", "--perms", "--size", "--overlay-src", "--tmp-overlay"),
    *("--ro-overlay",),
)
TWO = (
    *("--setenv", "--bind", "--bind-try", "--dev-bind", "--dev-bind-try", "--ro-bind"),
    *("--ro-bind-try", "--bind-fd", "--ro-bind-fd", "--file", "--bind-data", "--ro-bind-data"),
    *("--symlink", "--chmod"),
)
THREE = ("--overlay",)
WORDS = {name: count for count, names in enumerate((NONE, ONE, TWO, THREE)) for name in names}
BINDS, HIDES = ("--bind", "--bind-try", "--dev-bind", "--dev-bind-try"), ("--tmpfs",)
READ_ONLY = ("--ro-bind", "--ro-bind-try")
PLANTS = ("--ro-bind-data", "--bind-data", "--file")
NEW = ("--proc", "--dev", "--mqueue", "--tmp-overlay", "--ro-overlay", "--overlay")
MOUNTS = (*BINDS, *HIDES, *READ_ONLY, *PLANTS, *NEW)

# The working directory, as the reader writes `$PWD`; no user writes it so.
FOLDER = "././."

# Options that give a program more than it has without them.
GIVES = {
    "--cap-add": "a capability is given to the programs",
    "--userns": "the programs run in a user namespace that exists already",
    "--pidns": "the programs see the processes of a namespace that exists already",
}
DEVICES = "all devices of the host are there"


@dataclass(frozen=True)
class Option:
    """One option with its words, and the line that it stands in.

    literal: True if no shell reads the words.
    relative: True if the last word is a path that begins neither at / nor in a folder of the user.
    """

    name: str
    words: tuple[str, ...]
    line: int
    literal: bool = False
    relative: bool = False

    @property
    def target(self) -> str:
        """The path in the sandbox that a mount covers, or ""."""
        return self.words[-1] if self.name in (*MOUNTS, "--dir", "--remount-ro") else ""

    @property
    def moves(self) -> bool:
        """True if it shows files of the host at another path than theirs."""
        binds = self.name in (*BINDS, *READ_ONLY)
        return binds and self.words[0] not in (self.words[1], "/dev/null")


def read(text: str, where: Where) -> list[Entry]:
    try:
        words = _words(text)
    except (ValueError, RecursionError) as error:
        return [Entry(1, "", "", Meaning.DEAD, f"is not a list of words: {error}")]
    options, made = _options(words, literal="\0" in text or text.lstrip().startswith("["))
    for number, option in enumerate(options):
        earlier, later = options[:number], options[number + 1 :]
        found = _refused(option, earlier, where) or _meaning(option, later, where)
        made += [_elsewhere(each, option, options, where) for each in found]
    return sorted(made, key=lambda each: each.line)


def _words(text: str) -> list[tuple[str, int]]:
    """Return the words with their lines."""
    if text.lstrip().startswith("["):
        found = json.loads(text)
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise ValueError("an item is not a string")
        return [(each, 1) for each in found]
    # A list in JSON or of `ps` has the words after the shell; a text has them before it.
    if "\0" in text:
        return [(each, 1) for each in text.split("\0") if each]
    made = []
    # Lists that are copied from a script may have a backslash at the end of each line.
    for number, line in enumerate(text.splitlines(), 1):
        words = shlex.split(line.rstrip().removesuffix("\\"))
        made += [(_by_shell(word), number) for word in words]
    return made


def _by_shell(word: str) -> str:
    """Return a word as a shell makes it, with `~` for the home directory and FOLDER for the working
    directory."""
    for name, meant in (("HOME", "~"), ("PWD", FOLDER)):
        word = re.sub(rf"^\$({name}|\{{{name}\}})(?=/|$)", meant, word)
    return word


def _is_relative(words: tuple[str, ...]) -> bool:
    return bool(words) and not words[-1].startswith(("/", "~", "$", FOLDER))


def _plain(word: str) -> str:
    return "." + word.removeprefix(FOLDER) if word.startswith(FOLDER) else word


def _options(words: list[tuple[str, int]], *, literal: bool) -> tuple[list[Option], list[Entry]]:
    made: list[Option] = []
    wrong: list[Entry] = []
    at = 1 if words and words[0][0].rpartition("/")[2] == "bwrap" else 0
    while at < len(words):
        name, line = words[at]
        at += 1
        if name == "--" or not name.startswith("-"):
            break
        count = WORDS.get(name)
        if count is None:
            why = "bwrap(1) names no such option: bubblewrap does not start"
            wrong.append(Entry(line, name, "", Meaning.UNKNOWN, why))
            continue
        taken = tuple(word for word, _ in words[at : at + count])
        if len(taken) < count:
            why = f"needs {count} words: bubblewrap does not start"
            wrong.append(Entry(line, name, " ".join(taken), Meaning.DEAD, why))
        else:
            plain = tuple(_plain(word) for word in taken)
            made.append(Option(name, plain, line, literal, _is_relative(taken)))
        at += count
    return made, wrong


def _refused(option: Option, earlier: list[Option], where: Where) -> list[Entry]:
    """Return an entry for a destination with which bubblewrap fails, or covers another path."""
    value, path = " ".join(option.words), option.target
    if path and option.relative:
        means = "/" if path == "." else f"/{path.removeprefix('./')}"
        why = f'bubblewrap takes the destination from / on, so it means {means}: write "$PWD"'
        return [Entry(option.line, option.name, value, Meaning.DEAD, why)]
    if option.name == "--remount-ro" and path != "/" and not _is_mount(path, earlier, where):
        why = f"nothing is mounted at {path} by an earlier option: bubblewrap does not start"
        return [Entry(option.line, option.name, value, Meaning.DEAD, why, (("deny-write", path),))]
    return []


def _is_mount(path: str, earlier: list[Option], where: Where) -> bool:
    real = where.real(path)
    if any(where.real(each.target) == real for each in earlier if each.name in MOUNTS):
        return True
    # A mount of the host is there too if an earlier option binds a folder above it.
    bound = any(
        each.name in BINDS + READ_ONLY and not each.moves and _has(each.target, path, where)
        for each in earlier
    )
    # Unlike Path.is_mount, this is False for a path that is too long.
    return bound and os.path.ismount(real)


def _elsewhere(entry: Entry, option: Option, options: list[Option], where: Where) -> Entry:
    """Return the entry, with the remark that another option shows the same files elsewhere."""
    kinds = {kind for kind, _ in entry.rules}
    if entry.meaning is not Meaning.ENFORCED or not kinds & {"deny-read", "deny-write"}:
        return entry
    shows = BINDS if "deny-write" in kinds else (*BINDS, *READ_ONLY)
    for each in options:
        if each.moves and each.name in shows and _has(each.words[0], option.target, where):
            why = f"{each.name} {' '.join(each.words)} shows the files of the host there too"
            return replace(entry, meaning=Meaning.NARROWER, why=why)
    return entry


def _has(outer: str, inner: str, where: Where) -> bool:
    return covers(str(where.real(outer)), str(where.real(inner)))


def _covered(path: str, later: list[Option]) -> str:
    """Return the later option that covers a path with files of the host again, or ""."""
    for each in later:
        shows = each.name in BINDS + READ_ONLY and each.words[0] != "/dev/null"
        if shows and covers(each.target, path):
            return f"{each.name} {' '.join(each.words)}"
    return ""


def _meaning(option: Option, later: list[Option], where: Where) -> list[Entry]:
    name, words, path = option.name, option.words, option.target
    value = " ".join(words)

    def made(meaning: Meaning, why: str, *rules: tuple[str, str]) -> list[Entry]:
        return [Entry(option.line, name, value, meaning, why, rules)]

    if option.literal and path.startswith(("~", "$")):
        why = f"the words are passed without a shell: the path is a folder named {path[:1]}…"
        return made(Meaning.DEAD, why)
    if name.endswith("bind-try") and words[0].startswith(("/", "~")) and not where.exists(words[0]):
        return made(Meaning.DEAD, f"{words[0]} does not exist here, so the option is skipped")
    if name in ("--unshare-net", "--unshare-all", "--share-net"):
        return [_on_network(option, later)]
    empty = name in READ_ONLY and words[0] == "/dev/null"
    if name in HIDES or empty or name in PLANTS:
        if path in ("/tmp", "/", "/var/tmp", "/run", "/dev/shm"):
            return made(Meaning.NOT_TESTABLE, "a new folder, at a path of the host")
        over = _covered(path, later)
        if over:
            why = f"a later {over} puts the files of the host there again"
            return made(Meaning.DEAD, why, ("deny-read", path))
        if where.exists(path) and where.real(path).is_dir() != (name in HIDES):
            kinds = ("a file", "a folder") if name in HIDES else ("a folder", "a file")
            why = f"{path} is {kinds[0]}, and only {kinds[1]} can be hidden so"
            return made(Meaning.DEAD, f"{why}: bubblewrap does not start")
        return made(
            Meaning.ENFORCED, "the files of the host at this path are hidden", ("deny-read", path)
        )
    if name in READ_ONLY and path != "/":
        writable = [each for each in later if each.name in BINDS and covers(each.target, path)]
        if words[0] != path:
            return made(Meaning.NOT_TESTABLE, "another folder at this path")
        if writable:
            why = f"a later {writable[0].name} of {writable[0].target} makes it writable again"
            return made(Meaning.DEAD, why, ("deny-write", path))
        return made(Meaning.ENFORCED, "no program changes it", ("deny-write", path))
    if name in BINDS:
        if path == "/":
            why = "all files of the host can be changed, except at later mounts"
            if any(each.name == "--remount-ro" and each.words[0] == "/" for each in later):
                why = "files of other file systems can be changed: --remount-ro closes one mount"
            return made(Meaning.WIDER, why)
        if name.startswith("--dev-bind") and covers("/dev", path):
            return made(Meaning.WIDER, DEVICES)
        if option.moves and has_home(words[0], where):
            return made(Meaning.WIDER, f"{ALL_OF_HOME}, at {path}")
        if words[0] != path:
            return made(Meaning.NOT_TESTABLE, "another folder at this path")
        closing = (*READ_ONLY, "--remount-ro")
        closed = [each for each in later if each.name in closing and covers(each.target, path)]
        if closed:
            why = f"a later {closed[0].name} of {closed[0].target} makes it read-only again"
            return made(Meaning.DEAD, why)
        if has_home(path, where):
            return made(Meaning.WIDER, ALL_OF_HOME)
        return made(Meaning.ENFORCED, "can be written", ("allow-write", path))
    if name == "--setenv":
        for each in later:
            same = each.name in ("--setenv", "--unsetenv") and each.words[0] == words[0]
            if same or each.name == "--clearenv":
                return made(Meaning.DEAD, f"a later {each.name} undoes it")
        return made(Meaning.ENFORCED, NO_ROW)
    if name == "--unsetenv":
        again = [each for each in later if each.name == "--setenv" and each.words[0] == words[0]]
        if again:
            return made(Meaning.DEAD, "a later --setenv sets it again")
        return made(Meaning.ENFORCED, "no program gets it", ("deny-env", words[0]))
    if name == "--clearenv":
        why = "no variable of yours is given"
        return made(Meaning.ENFORCED, why, ("deny-env", "GITHUB_TOKEN"))
    if name == "--args":
        return made(Meaning.NOT_TESTABLE, "the words that come through the descriptor are not here")
    if name == "--remount-ro" and path == "/":
        return made(Meaning.NARROWER, "closes one mount: mounts below it are as they were")
    if name == "--remount-ro":
        why = "no program changes it; mounts below it are as they were"
        return made(Meaning.ENFORCED, why, ("deny-write", path))
    if name in GIVES:
        return made(Meaning.WIDER, GIVES[name])
    return made(Meaning.ENFORCED, NO_ROW)


def _on_network(option: Option, later: list[Option]) -> Entry:
    """Return the entry of an option about the network. The last one counts."""

    def made(meaning: Meaning, why: str, *rules: tuple[str, str]) -> Entry:
        return Entry(option.line, option.name, "", meaning, why, rules)

    again = [each.name for each in later if each.name in ("--unshare-net", "--unshare-all")]
    if option.name == "--share-net" and again:
        return made(Meaning.DEAD, f"a later {again[0]} closes it again")
    if option.name == "--share-net":
        return made(Meaning.WIDER, "the network of the host is shared")
    if any(each.name == "--share-net" for each in later) and not again:
        if option.name == "--unshare-net":
            return made(Meaning.DEAD, "a later --share-net shares it again", ("no-network", ""))
        return made(Meaning.NARROWER, "new namespaces, but a later --share-net")
    why = "no service of this machine or of the network is reached"
    return made(Meaning.ENFORCED, why, ("no-network", ""))
