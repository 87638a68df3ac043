"""The surroundings of a batch of programs: the paths that they use, and the observers outside."""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from boxspec.mounts import mounts
from boxspec.subject.observe.facts import Facts, facts_of, tree
from boxspec.subject.observe.host_ipc import HostIpc
from boxspec.subject.observe.pipe_reader import PipeReader
from boxspec.verify.scene import Scene

WRITE, METADATA, READ = "fs-write", "fs-metadata", "fs-read"
# The aspect of reads outside the workspace. No backend claims it.
READ_OUTSIDE = "read"
NETWORK, PROCESS, IPC, KERNEL = "network", "process", "ipc", "kernel"
# If the implementation has policies, the policy of a session keeps the first path unchanged and
# hides the second one.
KEPT, SECRET = "kept", "secret"
DETACH = 2
INTERNET = ("tcp4", "tcp6", "udp4", "udp6")

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Effect:
    """An effect outside.

    kind: its text without names, which is the same in each scene.
    shown: its text.
    program: the number of the program in the batch, if the number is known.
    """

    aspect: str
    kind: str
    shown: str
    program: int | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.aspect, self.kind


class Surroundings:
    """The targets of one scene with their observers. Make them before `scene.settle`."""

    def __init__(self, scene: Scene, ruled: bool) -> None:
        self.scene = scene
        self._ruled = ruled
        # The token has 24 digits, because fixtures/programs/steps searches the data that it reads
        # for such a text.
        self.token = secrets.token_hex(12)
        self.out = scene.fresh(scene.home)
        self._secrets: dict[str, tuple[str, str]] = {}
        self.targets = self._make_targets()
        self._ipc = scene.enter(HostIpc(self.token))
        scene.remove_objects(int(str(self._ipc.params["shm_key"])), self.token)
        self._pipe = scene.enter(PipeReader(self.out))
        self._listeners = scene.listeners
        self._victim = scene.victim
        self._secrets[scene.victim_token] = (PROCESS, "the memory of a process outside")
        self._secrets[self.token] = (IPC, "a key of the user")
        self._before: dict[Path, Facts] = {}

    def _make_targets(self) -> dict[str, Path]:
        scene, out, ws = self.scene, self.out, self.scene.root
        for folder in (out / "empty", out / "linked", ws / "folder", ws / KEPT, ws / SECRET):
            folder.mkdir(parents=True)
        (ws / "planted").symlink_to(out / "linked")
        shared = {"tmp_new": "/tmp", "var_tmp_new": "/var/tmp", "shm_new": "/dev/shm"}
        made = {
            "out": out,
            "out_file": self._secret(out / "file", READ_OUTSIDE, "a file outside"),
            "out_new": out / "new",
            "out_empty": out / "empty",
            "out_setuid": self._secret(out / "setuid", READ_OUTSIDE, "a setuid file outside"),
            "out_pipe": out / "pipe",
            "home": scene.home,
            "home_file": self._secret(
                scene.home / ".profile", READ_OUTSIDE, "a file of the home directory"
            ),
            "home_new": scene.home / "new",
            **{name: Path(folder) / f"new-{self.token}" for name, folder in shared.items()},
            "shm_file": Path("/dev/shm") / f"host-{self.token}",
            "ws": ws,
            "ws_file": ws / "file",
            "ws_new": ws / "new",
            "ws_folder": ws / "folder",
            "ws_folder_file": ws / "folder" / "file",
            "ws_link": ws / "link",
            "ws_link_file": ws / "link" / "file",
            "ws_link_new": ws / "link" / "new",
            "ws_planted_file": ws / "planted" / "file",
            "ws_planted_new": ws / "planted" / "new",
            "kept": ws / KEPT,
            "kept_file": self._secret(ws / KEPT / "file", "", "a file of the policy"),
            "kept_new": ws / KEPT / "new",
            "secret_file": self._secret(ws / SECRET / "file", READ, "a file that the policy hides"),
        }
        self._secret(out / "linked" / "file", READ_OUTSIDE, "a file outside")
        (out / "setuid").chmod(0o6755)
        for name in (*shared, "shm_file"):
            scene.janitor.remove(made[name])
        return made

    def _secret(self, path: Path, aspect: str, what: str) -> Path:
        token = secrets.token_hex(12)
        self._secrets[token] = (aspect, what)
        path.write_text(f"# {token}\n")
        with contextlib.suppress(OSError):
            os.setxattr(path, "user.canary", b"1")
        return path

    @property
    def lines(self) -> list[str]:
        """Return the lines of the plan that name the targets."""
        known = {
            "scene": self.scene.base,
            "token": self.token,
            "sockets": self.scene.sockets,
            **self.targets,
            **self._listeners.params,
            **self._victim.params,
            **{name: value for name, value in self._ipc.params.items() if name != "dev_shm"},
            # At the system call, the name of a queue has no slash.
            "mq": self.token,
            "mounts_outside": Path("/proc/self/ns/mnt").readlink(),
        }
        return [f"{name}={value}" for name, value in known.items()]

    @property
    def left_open(self) -> list[str]:
        """Return the warden flags that leave descriptors open. calls.def lists these
        descriptors."""
        return ["--leave-open", f"20={self.out}", "--leave-open", f"21={self.targets['out_file']}"]

    def settle(self) -> None:
        """Record the files as they are before the start."""
        self._before = self._facts()

    def _watched(self) -> Iterator[Path]:
        targets = self.targets
        # Of the home directory only two paths are watched, because other decoys and the workspace
        # lie below it.
        yield from (targets["home_file"], targets["home_new"])
        yield from (self.out, *tree(self.out))
        if self._ruled:
            yield targets["kept_file"]
        yield from (targets[name] for name in ("tmp_new", "var_tmp_new", "shm_new"))

    def _facts(self) -> dict[Path, Facts]:
        found = {path: facts_of(path) for path in self._watched()}
        return {path: facts for path, facts in found.items() if facts}

    def effects(self) -> list[Effect]:
        """Return the effects so far."""
        found = [*self._mounts(), *self._changes()]
        for hit in self._listeners.hits():
            name = hit.partition(":")[0]
            aspect = NETWORK if name in INTERNET else IPC
            found.append(_simple(aspect, f"the listener {name} was reached"))
        found += [_simple(PROCESS, each) for each in self._victim.effects()]
        changed = [
            *self._ipc.effects(),
            *(["a named pipe outside was written to"] * self._was_piped()),
        ]
        found += [_simple(IPC, each.replace(self.token, "TOKEN")) for each in changed]
        found += [_simple(PROCESS, f"a process lived on ({len(self.scene.left)})")] * bool(
            self.scene.left
        )
        return found

    def _was_piped(self) -> bool:
        return bool(self._pipe.effects())

    def _changes(self) -> Iterator[Effect]:
        now = self._facts()
        for path in sorted({*self._before, *now}):
            was, is_ = self._before.get(path, ()), now.get(path, ())
            if was != is_:
                place = self._place(path)
                aspect, how = _difference(was, is_)
                yield Effect(aspect, f"{place} was {how}", f"{self.scene.shown(path)} was {how}")

    def _place(self, path: Path) -> str:
        if path == self.targets["kept_file"]:
            return "a file that the policy keeps"
        if path.is_relative_to(self.out) or path.is_relative_to(self.scene.home):
            return "a file outside"
        return f"a file in {path.parent}"

    def _mounts(self) -> Iterator[Effect]:
        """Yield the mounts below the scene that this process sees, and unmount them."""
        for _, place in reversed(mounts()):
            if str(self.scene.base) in str(place):
                _libc.umount2(os.fsencode(place), DETACH)
                yield Effect(WRITE, "a mount of the host", f"{self.scene.shown(place)}: mounted")

    def leaked(self, token: str, number: int) -> Effect | None:
        """Return the effect of a program that has read this secret."""
        aspect, what = self._secrets.get(token, ("", ""))
        return Effect(aspect, f"{what} was read", f"{what} was read", number) if aspect else None


def _simple(aspect: str, text: str) -> Effect:
    return Effect(aspect, text, text)


def _difference(was: Facts, is_: Facts) -> tuple[str, str]:
    """Return the aspect of a change, and a word for the change. The facts are those of facts_of."""
    if not was:
        return WRITE, "created"
    if not is_:
        return WRITE, "removed"
    if was[3] != is_[3] or stat.S_IFMT(_mode(was)) != stat.S_IFMT(_mode(is_)):
        return WRITE, "replaced"
    if was[4:6] != is_[4:6] or _content(was) != _content(is_):
        return WRITE, "changed"
    return METADATA, "changed in its mode, owner, times or attributes"


def _mode(facts: Facts) -> int:
    mode = facts[0]
    assert isinstance(mode, int)
    return mode


def _content(facts: Facts) -> Facts:
    """Return the digest of a regular file, or the target of a link."""
    return facts[-2:-1] if stat.S_ISREG(_mode(facts)) else facts[7:]
