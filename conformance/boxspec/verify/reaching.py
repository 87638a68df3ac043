"""Targets that must not be reached: listeners, processes and the terminal of the user."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from boxspec.random_names import random_name
from boxspec.subject.observe.probes import ProbeResult, table
from boxspec.subject.observe.visible import hidden_by_proc
from boxspec.verify.errors import UntestableError
from boxspec.verify.layout import without_the_kit
from boxspec.verify.port import SocketFile
from boxspec.verify.reading import identified, leaks
from boxspec.verify.row import Attempt, Line, Target
from boxspec.verify.scene import TEMPORARY, Scene

Params = dict[str, object]

# For each probe, the listener of the kit that the probe tries to reach.
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
# Attempts that do more than connect or send. The evidence names the way.
INDIRECT = frozenset(
    {"n_v4mapped", "n_mptcp", "n_tfo", "n_io_uring_connect", "n_udp_sendto", "n_udp_wide"}
)
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
# Sockets of services of the host. A program that reaches one can act as another user or as root.
OF_THE_HOST = (
    *("/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock"),
    *("/run/crio/crio.sock", "/run/dbus/system_bus_socket", "/run/snapd.socket"),
    *("/run/systemd/private", "/tmp/.X11-unix/X0", "/tmp/.X11-unix/X1"),
)
# Variables that name a socket of a container engine.
ENGINES = ("DOCKER_HOST", "CONTAINER_HOST")
AGENT, RUNTIME = "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR"
AN_AGENT = f"an SSH agent, {AGENT}"
# Paths of sockets below XDG_RUNTIME_DIR: D-Bus, container engines, gpg-agent, a keyring, a display
# and sound. A command may show a path only if it is a socket.
OF_THE_USER = (
    *("bus", "docker.sock", "podman/podman.sock", "gnupg/S.gpg-agent", "keyring/control"),
    *("wayland-0", "pipewire-0", "pulse/native"),
)
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

    def lines(self, scene: Scene) -> list[Line]:
        # Only bash can connect to addresses.
        if "n_tcp4" not in self.probes or not shutil.which("bash"):
            return []
        port = scene.listeners.params["tcp4"]

        def effects(output: bytes) -> list[str]:
            return [f"{NAMED['tcp4']} by a shell"] if "tcp4" in scene.reached() else []

        return [Line(f"bash -c ': >/dev/tcp/127.0.0.1/{port}'", "bash: /dev/tcp", effects)]

    def _attempt(self, scene: Scene, name: str, known: Params) -> Attempt:
        listener = {**INTERNET, **LOCAL}[name]

        def effects(result: ProbeResult) -> list[str]:
            return [NAMED[listener]] if listener in scene.reached() else []

        shown = table()[name].tries
        return Attempt(name, shown, {**known}, effects, way=shown if name in INDIRECT else "")


@dataclass(frozen=True)
class Processes(Target):
    """Attempts to signal another process of the user, and to change its memory and scheduling."""

    def attempts(self, scene: Scene) -> list[Attempt]:
        params = {**scene.victim.params, "token": scene.victim_token}

        def harmed(result: ProbeResult) -> list[str]:
            return [
                f"another process: {each.removeprefix(OWNER)}" for each in scene.victim.effects()
            ]

        effects: dict[str, Callable[[ProbeResult], list[str]]] = dict.fromkeys(
            SIGNALS + CHANGES, harmed
        )
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
                for each in scene.victim.effects()
            ]

        return [Line(f"kill -USR1 {pid}", "kill -USR1 PID", harmed)]


@dataclass(frozen=True)
class SocketsOfTheUser(Target):
    """Unix sockets at the places in which programs of a user listen.

    These are an SSH agent in the temporary folder, and the sockets of OF_THE_USER.
    """

    def furnish(self, scene: Scene) -> None:
        self._sockets(scene)

    def attempts(self, scene: Scene) -> list[Attempt]:
        made: list[Attempt] = []
        for name, listener in self._sockets(scene).items():
            what = f"a socket below {RUNTIME}, {name}" if name else f"the socket of {AN_AGENT}"
            effects = _reached(listener, what)
            path, token = listener.path, secrets.token_hex(8)
            params: dict[str, object] = {"out": path.parent, "socket": path.name, "token": token}
            made.append(Attempt("n_unix_path_out", what, params, effects))
            # A command may show the socket at another path, and name this path in the variable.
            named: dict[str, object] = {"variable": AGENT, "token": secrets.token_hex(8)}
            if name:
                named |= {"variable": RUNTIME, "below": name}
            made.append(Attempt("n_unix_variable", what, named, effects))
        return made

    def _sockets(self, scene: Scene) -> dict[str, SocketFile]:
        """Return a listener for each name in OF_THE_USER, and for the agent with the name ""."""
        if not scene.user_sockets:
            agent, runtime = TEMPORARY / f"ssh-{random_name()}", _runtime_folder(scene)
            scene.env[AGENT], scene.env[RUNTIME] = str(agent / "socket"), str(runtime)
            scene.env["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={runtime / 'bus'}"
            scene.env["WAYLAND_DISPLAY"] = "wayland-0"
            scene.removed_at_the_end(agent)
            for name in ("", *OF_THE_USER):
                path = runtime / name if name else agent / "socket"
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                scene.user_sockets[name] = scene.enter(SocketFile(path))
        return scene.user_sockets


def _reached(listener: SocketFile, what: str) -> Callable[[ProbeResult], list[str]]:
    return lambda result: [f"{what}, was reached"] if listener.reached() else []


def _runtime_folder(scene: Scene) -> Path:
    """Make a folder for XDG_RUNTIME_DIR, below the user's own XDG_RUNTIME_DIR."""
    own = without_the_kit(os.environ, ()).get("XDG_RUNTIME_DIR", "")
    usable = own.startswith("/") and os.access(own, os.W_OK | os.X_OK)
    return scene.private_folder(Path(own) / random_name() if usable else scene.fresh(scene.home))


@dataclass(frozen=True)
class SocketOfTheHost(Target):
    """A socket of a service of the host. The attempt connects and sends nothing."""

    path: Path

    def attempts(self, scene: Scene) -> list[Attempt]:
        found = identified(self.path, f"{self.path} was reached")
        shown, params = f"connect to {self.path}, nothing sent", {"path": self.path}
        return [Attempt("n_unix_host", shown, {**params}, found, unclear=True)]


def sockets_of_the_host() -> list[SocketOfTheHost]:
    """Return the sockets in OF_THE_HOST and of ENGINES that exist here and that this user may
    use."""
    found = []
    engines = (os.environ.get(name, "") for name in ENGINES)
    named = [each.removeprefix("unix://") for each in engines if each.startswith("unix:///")]
    for path in map(Path, dict.fromkeys((*OF_THE_HOST, *named))):
        try:
            is_socket = stat.S_ISSOCK(path.stat().st_mode)
        except OSError:
            continue
        if is_socket and os.access(path, os.W_OK):
            found.append(SocketOfTheHost(path))
    return found


def need_all_processes() -> None:
    """Raise UntestableError if /proc may hide processes that the command leaves."""
    if hidden_by_proc():
        raise UntestableError("/proc is mounted with hidepid: it hides processes from this user")


@dataclass(frozen=True)
class Leftovers(Target):
    """A process that outlives the command."""

    def attempts(self, scene: Scene) -> list[Attempt]:
        need_all_processes()

        def effects(result: ProbeResult) -> list[str]:
            return [f"process {each} was alive after the command had ended" for each in scene.left]

        return [Attempt("p_daemon", table()["p_daemon"].tries, {}, effects, late=True)]


@dataclass(frozen=True)
class Typing(Target):
    """Input that a program puts into the terminal of the user.

    The test needs a separate start at a terminal.
    """

    def attempts(self, scene: Scene) -> list[Attempt]:
        def effects(result: ProbeResult) -> list[str]:
            return ["input was put into the terminal (TIOCSTI)"] if scene.typed else []

        params: Params = {"token": secrets.token_hex(8)}
        return [Attempt("i_tiocsti", table()["i_tiocsti"].tries, params, effects)]
