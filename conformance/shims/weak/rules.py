"""The rules that can be left out of the sandboxes of the Python implementation, one at a time.

Each is one line of a filter, one mount or one right. Numbers of system calls are those of x86-64.
"""

from __future__ import annotations

import backend.filter as filter_
import backend.inside as inside
from backend.bubblewrap import Bubblewrap
from backend.landlock import TRUNCATE, Landlock
from faults.registry import replaces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

FILTERED, MOUNTED, LANDLOCK = "bubblewrap+seccomp", "bubblewrap", "landlock+seccomp"
# By name: the backend, and the function that leaves the rule out.
RULES: dict[str, tuple[str, Callable[[], None]]] = {}

CALLS = {
    **{"shmget": 29, "shmat": 30, "shmctl": 31, "semget": 64, "semop": 65, "semctl": 66},
    **{"msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71, "personality": 135},
    **{"mount": 165, "umount2": 166, "add_key": 248, "request_key": 249, "keyctl": 250},
    **{"perf_event_open": 298, "fanotify_init": 300, "fanotify_mark": 301, "setns": 308},
    **{"open_by_handle_at": 304, "bpf": 321, "userfaultfd": 323, "io_uring_setup": 425},
    **{"io_uring_register": 427, "open_tree": 428, "fsconfig": 431, "mount_setattr": 442},
}
RIGHTS = {
    **{"WRITE_FILE": 1 << 1, "REMOVE_DIR": 1 << 4, "REMOVE_FILE": 1 << 5, "MAKE_CHAR": 1 << 6},
    **{"MAKE_DIR": 1 << 7, "MAKE_REG": 1 << 8, "MAKE_SOCK": 1 << 9, "MAKE_FIFO": 1 << 10},
    **{"MAKE_SYM": 1 << 12, "TRUNCATE": TRUNCATE},
}


def rule(backend: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def register(install: Callable[[], None]) -> Callable[[], None]:
        RULES[install.__name__.replace("_", "-")] = backend, install
        return install

    return register


def without_call(number: int) -> Callable[[], None]:
    def install() -> None:
        @replaces(filter_)
        def groups(original):
            return {
                name: tuple(each for each in numbers if each != number)
                for name, numbers in original().items()
            }

    return install


def without_right(right: int) -> Callable[[], None]:
    def install() -> None:
        @replaces(Landlock)
        def ruleset(original, self, root, profile):
            made = original(self, root, profile)
            every, *others = made["handled"]
            every &= ~right
            # The kernel refuses a rule with a right that is not handled.
            paths = [(path, access & every) for path, access in made["paths"]]
            return {**made, "handled": (every, *others), "paths": paths}

    return install


def with_words(change: Callable[[list[bytes]], list[bytes]]) -> None:
    """Change the command line of bubblewrap. The probe, which has the root /, keeps its own."""

    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        made = original(self, argv, root, profile, cwd, binds)
        return made if root == b"/" else change(made)


def without_ruleset() -> None:
    @replaces(Bubblewrap)
    def ruleset(original, self, root, profile):
        return None


for _name, _number in CALLS.items():
    RULES[f"call-{_name}"] = FILTERED, without_call(_number)
for _name, _right in RIGHTS.items():
    RULES[f"right-{_name}"] = LANDLOCK, without_right(_right)


@rule(FILTERED)
def address_families() -> None:
    @replaces(filter_)
    def allowed_families(original, inet):
        return [filter_.statement(filter_.LOAD, filter_.ARGUMENTS)]


@rule(FILTERED)
def pairs_of_datagrams() -> None:
    @replaces(filter_)
    def pairs(original):
        return (*original(), 2)


@rule(FILTERED)
def flags_of_clone_and_unshare() -> None:
    filter_.NAMESPACES = 0


@rule(FILTERED)
def request_tiocsti() -> None:
    filter_.TIOCSTI = filter_.TIOCLINUX


@rule(FILTERED)
def request_tioclinux() -> None:
    filter_.TIOCLINUX = filter_.TIOCSTI


@rule(FILTERED)
def architecture() -> None:
    filter_.KILL = filter_.ALLOW


@rule(FILTERED)
def clone3() -> None:
    filter_.CLONE3 = filter_.NEWEST + 1


@rule(FILTERED)
def writing_to_named_pipes() -> None:
    without_ruleset()


@rule(FILTERED)
def kept_files() -> None:
    @replaces(Bubblewrap)
    def keep(original, self, path):
        return []


@rule(FILTERED)
def hidden_files() -> None:
    @replaces(Bubblewrap)
    def hide(original, self, path):
        return []


@rule(MOUNTED)
def read_only_root() -> None:
    def change(words: list[bytes]) -> list[bytes]:
        at = words.index(b"--ro-bind")
        return [*words[:at], b"--bind", *words[at + 1 :]]

    with_words(change)


@rule(MOUNTED)
def private_tmp() -> None:
    def change(words: list[bytes]) -> list[bytes]:
        at = words.index(b"--tmpfs")
        return [*words[:at], b"--bind", b"/tmp", *words[at + 1 :]]

    with_words(change)


@rule(MOUNTED)
def private_devices() -> None:
    def change(words: list[bytes]) -> list[bytes]:
        at = words.index(b"--dev")
        return [*words[:at], b"--dev-bind", b"/dev", *words[at + 1 :]]

    with_words(change)


@rule(MOUNTED)
def own_network() -> None:
    def change(words: list[bytes]) -> list[bytes]:
        at = words.index(b"--unshare-all") + 1
        return [*words[:at], b"--share-net", *words[at:]]

    with_words(change)


@rule(MOUNTED)
def own_processes() -> None:
    def change(words: list[bytes]) -> list[bytes]:
        at = words.index(b"--unshare-all")
        others = [b"--unshare-user-try", b"--unshare-ipc", b"--unshare-net", b"--unshare-uts"]
        return [*words[:at], *others, *words[at + 1 :]]

    with_words(change)


@rule(MOUNTED)
def closed_descriptors() -> None:
    inside.ALWAYS = tuple(each for each in inside.ALWAYS if each != "close_descriptors")
