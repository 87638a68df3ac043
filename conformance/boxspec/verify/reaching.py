"""Targets that must not be reached: listeners, processes and the terminal of the user."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from boxspec.random_names import random_name
from boxspec.subject.observe.probes import ProbeResult, table
from boxspec.subject.observe.visible import hidden_by_proc
from boxspec.verify.errors import UntestableError
from boxspec.verify.layout import without_the_kit
from boxspec.verify.reading import identified, leaks
from boxspec.verify.row import Attempt, Line, Target
from boxspec.verify.scene import TEMPORARY, Scene
from boxspec.verify.socket_files import SocketFile, SocketFiles

Params = dict[str, object]

# For each probe, the listener of the kit that the probe tries to reach.
INTERNET = {
    "n_tcp4": "tcp4",
    "n_tcp6": "tcp6",
    "n_v4mapped": "tcp4",
    "n_mptcp": "tcp4",
    "n_tfo": "tcp4",
    "n_int80": "tcp4",
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
    {
        *("n_v4mapped", "n_mptcp", "n_tfo", "n_int80", "n_io_uring_connect", "n_udp_sendto"),
        "n_udp_wide",
    }
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
    *("/run/systemd/private", "/tmp/.X11-unix/X0", "/tmp/.X11-unix/X1", "/run/nscd/socket"),
    *("/run/systemd/resolve/io.systemd.Resolve", "/run/avahi-daemon/socket"),
    *("/run/cups/cups.sock", "/run/libvirt/libvirt-sock", "/run/buildkit/buildkitd.sock"),
    *("/run/k3s/containerd/containerd.sock", "/run/incus/unix.socket"),
    *("/var/lib/incus/unix.socket", "/var/snap/lxd/common/lxd/unix.socket"),
)
# Variables that name a socket of a container engine.
ENGINES = ("DOCKER_HOST", "CONTAINER_HOST")
AGENT, RUNTIME = "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR"
AN_AGENT = f"the socket of an SSH agent, {AGENT}"
BELOW_RUNTIME = f"a socket below {RUNTIME}, "
LEFT_OPEN = " (by a connection that the command left open)"
DISPLAYS = Path("/tmp/.X11-unix")
# The permissions of this folder if a run has made it. The system gives it others (1777).
MADE_BY_THE_KIT = 0o1773
# Paths of sockets below XDG_RUNTIME_DIR: D-Bus, container engines, gpg-agent, a keyring, a display
# and sound. A command may show a path only if it is a socket.
OF_THE_USER = (
    *("bus", "docker.sock", "podman/podman.sock", "gnupg/S.gpg-agent", "keyring/control"),
    *("wayland-0", "pipewire-0", "pulse/native"),
)
# Paths of sockets below the home directory: container engines, gpg-agent, and a password manager.
IN_HOME = (
    *(".docker/run/docker.sock", ".docker/desktop/docker.sock", ".colima/default/docker.sock"),
    *(".gnupg/S.gpg-agent", ".gnupg/S.gpg-agent.ssh", ".1password/agent.sock"),
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

    These are an SSH agent in the temporary folder, a display, and the sockets of OF_THE_USER and
    IN_HOME.
    """

    def furnish(self, scene: Scene) -> None:
        _sockets(scene)

    def attempts(self, scene: Scene) -> list[Attempt]:
        made: list[Attempt] = []
        sockets = _sockets(scene)
        for name, listener in sockets.by_name.items():
            path, token = listener.path, secrets.token_hex(8)
            params: Params = {"out": path.parent, "socket": path.name, "token": token}
            effects = _reached(sockets, {name: token})
            made.append(Attempt("n_unix_path_out", name, params, effects))
            # A command may show the socket at another path, and name this path in the variable.
            token = secrets.token_hex(8)
            named: Params = {"variable": AGENT, "token": token}
            if name.startswith(BELOW_RUNTIME):
                named |= {"variable": RUNTIME, "below": name.removeprefix(BELOW_RUNTIME)}
            elif name != AN_AGENT:
                continue
            effects = _reached(sockets, {name: token})
            made.append(Attempt("n_unix_variable", name, named, effects))
        # This attempt has no control, because only the command can leave such a connection.
        token = secrets.token_hex(8)
        effects = _reached(sockets, dict.fromkeys(sockets.by_name, token), LEFT_OPEN)
        shown = "a connection that the command left open"
        made.append(Attempt("n_unix_left_open", shown, {"token": token}, effects))
        return made


def _sockets(scene: Scene) -> SocketFiles:
    """Return listeners by the names with which the evidence shows them."""
    if scene.user_sockets is None:
        agent, runtime = TEMPORARY / f"ssh-{random_name()}", _runtime_folder(scene)
        scene.env[AGENT], scene.env[RUNTIME] = str(agent / "socket"), str(runtime)
        scene.env["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={runtime / 'bus'}"
        scene.env["WAYLAND_DISPLAY"] = "wayland-0"
        scene.janitor.remove(agent)
        paths = {AN_AGENT: agent / "socket"}
        paths |= {f"{BELOW_RUNTIME}{name}": runtime / name for name in OF_THE_USER}
        if not scene.real:
            paths |= {f"the socket ~/{name}": scene.home / name for name in IN_HOME}
        made = SocketFiles()
        for name, path in paths.items():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            made.by_name[name] = SocketFile(path)
        _add_display(scene, made)
        scene.user_sockets = scene.enter(made)
    return scene.user_sockets


def _add_display(scene: Scene, sockets: SocketFiles) -> None:
    """Listen at the place of an X server, with a number that no X server has."""
    number = 100 + secrets.randbelow(9900)
    path = DISPLAYS / f"X{number}"
    # Another run may remove the folder at the same time.
    with contextlib.suppress(OSError):
        with contextlib.suppress(FileExistsError):
            DISPLAYS.mkdir()
            DISPLAYS.chmod(MADE_BY_THE_KIT)
        # The run that made the folder may end before this one.
        if stat.S_IMODE(DISPLAYS.stat().st_mode) == MADE_BY_THE_KIT:
            scene.janitor.remove_if_empty(DISPLAYS)
        sockets.by_name[f"the display, {path}"] = SocketFile(path)
        scene.removed_with_the_scene(path)
        scene.env["DISPLAY"] = f":{number}"


def _reached(
    sockets: SocketFiles, tokens: Mapping[str, str], how: str = ""
) -> Callable[[ProbeResult], list[str]]:
    """Return an effect for each listener, by name, to which a program inside sent its token."""
    for name, token in tokens.items():
        sockets.by_name[name].expect(token)

    def effects(result: ProbeResult) -> list[str]:
        sockets.settle()
        found = [name for name, token in tokens.items() if sockets.by_name[name].received(token)]
        return [f"{name}, was reached{how}" for name in found]

    return effects


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
