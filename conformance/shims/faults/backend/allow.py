"""Faults that refuse too much."""

import os

import backend.context as context
import backend.filter as filter_
from backend.bubblewrap import Bubblewrap
from faults.backend.inside_source import change_inside
from faults.registry import fault, replaces


@fault("BACKEND-ALLOW-01", "the workspace is read-only", "one bind for all profiles")
def workspace_is_read_only():
    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        made = original(self, argv, root, profile, cwd, binds)
        if profile == "repo-write":
            at = made.index(root) - 1
            made[at] = b"--ro-bind"
        return made


@fault("BACKEND-ALLOW-01", "a name with a blank is not found", "mountinfo has \\040 for it")
def names_with_blanks_are_not_found():
    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        made = original(self, argv, root, profile, cwd, binds)
        # bubblewrap makes a mount writable only if it finds the mount in mountinfo.
        return [b"--ro-bind" if word == b"--bind" and b" " in root else word for word in made]


@fault("BACKEND-ALLOW-02", "there are no devices", "a root without /dev")
def no_devices():
    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        made = original(self, argv, root, profile, cwd, binds)
        at = made.index(b"--dev")
        return [*made[:at], b"--tmpfs", *made[at + 1 :]]


@fault(
    "BACKEND-ALLOW-03",
    "the network is closed under every profile",
    "--unshare-all without --share-net",
)
def no_network_for_anybody():
    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        made = original(self, argv, root, profile, cwd, binds)
        return [word for word in made if word != b"--share-net"]


@fault(
    "BACKEND-ALLOW-04", "mode changes are refused", "chmod in a list of calls that write metadata"
)
def nobody_may_change_a_mode():
    @replaces(filter_)
    def groups(original):
        modes = {"x86_64": (90, 91, 268, 452), "aarch64": (52, 53, 452)}
        return {**original(), "modes": modes[filter_.machine()]}


@fault(
    "BACKEND-ALLOW-05",
    "full-dev does not make the cache writable",
    "full-dev is repo-write by another name",
)
def the_cache_is_forgotten():
    @replaces(Bubblewrap)
    def cache(original, self, root):
        return []


@fault(
    "BACKEND-ALLOW-06",
    "the program starts with SIGPIPE ignored",
    "a launcher in Python; subprocess, bpo-1652",
)
def sigpipe_stays_ignored():
    change_inside(b"(signal.SIGPIPE, signal.SIGXFSZ)", b"(signal.SIGXFSZ,)")


@fault("BACKEND-ALLOW-01", "the scratch covers a root below /tmp", "the mounts in a wrong order")
def the_scratch_covers_the_root():
    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        made = original(self, argv, root, profile, cwd, binds)
        at = made.index(b"--tmpfs")
        scratch = made[at : at + 2]
        made[at : at + 2] = []
        end = made.index(b"--chdir")
        return [*made[:end], *scratch, *made[end:]]


@fault("BACKEND-ALLOW-05", "a cache that is a link is not granted", "O_NOFOLLOW")
def linked_caches_are_not_granted():
    @replaces(context)
    def cache(original, root):
        home = os.environb.get(b"HOME", b"")
        return None if os.path.islink(os.path.join(home, b".cache")) else original(root)


def homes_need_the_form(form):
    """Grant the cache only in a HOME that `form` does not change."""

    @replaces(context)
    def cache(original, root):
        home = os.environb.get(b"HOME", b"")
        return original(root) if form(home) == home else None


@fault("BACKEND-ALLOW-05", "a home that is a link has no cache", "realpath(home) != home")
def linked_homes_have_no_cache():
    homes_need_the_form(os.path.realpath)


@fault("BACKEND-ALLOW-05", "a home with a slash at its end has no cache", "a comparison of texts")
def a_home_with_a_slash_has_no_cache():
    homes_need_the_form(os.path.normpath)
