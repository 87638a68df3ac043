"""Targets that must not be reached: listeners, processes and the terminal of the user."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from boxspec.subject.observe import procs
from boxspec.subject.observe.probes import Said, table
from boxspec.verify.errors import UntestableError
from boxspec.verify.reading import leaks
from boxspec.verify.row import Attempt, Line, Target
from boxspec.verify.scene import Scene

Params = dict[str, object]

# For each probe, the listener of the kit that notices it.
INTERNET = {
    "n_tcp4": "tcp4",
    "n_tcp6": "tcp6",
    "n_v4mapped": "tcp4",
    "n_mptcp": "tcp4",
    "n_tfo": "tcp4",
    "n_io_uring_connect": "tcp4",
    "n_udp": "udp4",
    "n_udp6": "udp6",
    "n_udp_sendto": "udp4",
    "n_udp_wide": "udp4",
}
LOCAL = {
    "n_unix_path_out": "socket",
    "n_unix_path_out_dgram": "socket-dgram",
    "n_unix_pair_path": "socket-dgram",
    "n_unix_abstract": "abstract",
    "n_unix_abstract_dgram": "abstract_dgram",
    "n_unix_pair_abstract": "abstract_dgram",
}
NAMED = {
    "tcp4": "a TCP service on 127.0.0.1 was reached",
    "tcp6": "a TCP service on ::1 was reached",
    "udp4": "a UDP service on 127.0.0.1 was reached",
    "udp6": "a UDP service on ::1 was reached",
    "socket": "a Unix socket outside the workspace was reached by its path",
    "socket-dgram": "a Unix datagram socket outside the workspace was reached by its path",
    "abstract": "an abstract Unix socket was reached",
    "abstract_dgram": "an abstract Unix datagram socket was reached",
}
SIGNALS = ("p_kill_usr1", "p_tgkill", "p_sigqueue", "p_pidfd_signal")
CHANGES = ("p_setpriority", "p_prlimit", "p_sched_setaffinity", "p_process_vm_writev", "p_proc_mem")
MEMORY = "p_process_vm_readv"
OWNER = "the victim's "


@dataclass(frozen=True)
class Services(Target):
    """Listeners of the kit, reached by loopback or by Unix sockets."""

    probes: tuple[str, ...]

    def attempts(self, scene: Scene) -> list[Attempt]:
        known = {**scene.listeners.params, "out": scene.sockets, "token": secrets.token_hex(8)}
        return [self._attempt(scene, name, known) for name in self.probes]

    def _attempt(self, scene: Scene, name: str, known: Params) -> Attempt:
        listener = {**INTERNET, **LOCAL}[name]

        def effects(said: Said) -> list[str]:
            return [NAMED[listener]] if listener in scene.reached() else []

        return Attempt(name, table()[name].tries, {**known}, effects)


@dataclass(frozen=True)
class Processes(Target):
    """Attempts to signal another process of the user, and to change its memory and scheduling."""

    def attempts(self, scene: Scene) -> list[Attempt]:
        params = {**scene.victim.params, "token": scene.victim_token}

        def harmed(said: Said) -> list[str]:
            return [f"another process: {each.removeprefix(OWNER)}" for each in scene.victim.harm()]

        effects: dict[str, Callable[[Said], list[str]]] = dict.fromkeys(SIGNALS + CHANGES, harmed)
        effects[MEMORY] = leaks(scene.victim_token, "the memory of another process was read")
        return [
            Attempt(name, table()[name].tries, {**params}, effect)
            for name, effect in effects.items()
        ]

    def lines(self, scene: Scene) -> list[Line]:
        pid = scene.victim.params["victim"]

        def harmed(output: bytes) -> list[str]:
            return [
                f"another process, by a shell: {each.removeprefix(OWNER)}"
                for each in scene.victim.harm()
            ]

        return [Line(f"kill -USR1 {pid}", "kill -USR1 PID", harmed)]


def need_all_processes() -> None:
    """Raise UntestableError if the kit cannot see each process that the command leaves."""
    if procs.hidden_by_proc():
        raise UntestableError("/proc is mounted with hidepid: it hides processes from this user")


@dataclass(frozen=True)
class Leftovers(Target):
    """A process that outlives the command."""

    def attempts(self, scene: Scene) -> list[Attempt]:
        need_all_processes()

        def effects(said: Said) -> list[str]:
            return [f"process {each} was alive after the command had ended" for each in scene.left]

        return [Attempt("p_daemon", table()["p_daemon"].tries, {}, effects, late=True)]


@dataclass(frozen=True)
class Typing(Target):
    """Input that a program puts into the terminal of the user. It needs a separate start, at a
    terminal."""

    def attempts(self, scene: Scene) -> list[Attempt]:
        def effects(said: Said) -> list[str]:
            return ["input was put into the terminal (TIOCSTI)"] if scene.typed else []

        params: Params = {"token": secrets.token_hex(8)}
        return [Attempt("i_tiocsti", table()["i_tiocsti"].tries, params, effects)]
