"""Faults that let a program write outside the workspace."""

import os
import shutil
import tempfile

import backend.context as context
import backend.filter as filter_
import backend.inside as inside
import backend.landlock as landlock
import backend.ops as ops
import backend.session as session
import backend.tree as tree
from backend.bubblewrap import Bubblewrap
from faults.registry import fault, replaces


def grants_too(places_of):
    """Also permit the places in the Landlock ruleset, which would otherwise refuse writing to
    them."""

    @replaces(Bubblewrap)
    def writable(original, self, root, profile):
        return [*original(self, root, profile), *places_of(root, profile)]


@fault("BACKEND-WRITE-01", "the home directory is writable", "so that tools find their state")
def home_is_writable():
    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        home = os.environb.get(b"HOME", b"")
        # Grant the home directory only if the workspace lies outside of it; otherwise this would be
        # another fault.
        apart = root != b"/" and not root.startswith(home + b"/")
        more = [b"--bind", home, home] if os.path.isdir(home) and apart else []
        return original(self, argv, root, profile, cwd, [*more, *binds])

    grants_too(lambda root, profile: [os.environb.get(b"HOME", b"/nonexistent")])


@fault("BACKEND-WRITE-02", "the target of a link in the workspace is writable", "resolve at bind")
def links_are_bound():
    @replaces(Bubblewrap)
    def prepare(original, self, context, claims):
        original(self, context, claims)
        # Only without rules, because another requirement tests links under rules.
        for name in os.listdir(context.root) if context.rules is None else ():
            path = os.path.join(context.root, name)
            if os.path.islink(path) and os.path.isdir(path):
                target = os.path.realpath(path)
                self.binds = [b"--bind", target, target, *self.binds]


@fault(
    "BACKEND-WRITE-02", "removing the scratch directory follows links", "rm -r by a walk of its own"
)
def tidying_up_follows_links():
    @replaces(Bubblewrap)
    def wrap(original, self, argv, context, cwd):
        made, added = original(self, argv, context, cwd)
        folder = tempfile.mkdtemp(prefix=b"boxspec-fault-", dir=b"/var/tmp")
        self.folders = [*getattr(self, "folders", []), folder]
        at = made.index(b"--tmpfs")
        return [*made[:at], b"--bind", folder, *made[at + 1 :]], added

    @replaces(Bubblewrap)
    def shutdown(original, self):
        original(self)
        for folder in getattr(self, "folders", []):
            for place, _, files in os.walk(folder, followlinks=True):
                for name in files:
                    os.unlink(os.path.join(place, name))
            shutil.rmtree(folder, ignore_errors=True)


@fault("BACKEND-WRITE-03", "files can be opened by handle", "capabilities kept, shocker")
def handles_may_be_opened():
    @replaces(Bubblewrap)
    def hardening(original, self):
        return [b"--new-session", b"--die-with-parent", b"--cap-add", b"CAP_DAC_READ_SEARCH"]

    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        made = original(self, argv, root, profile, cwd, binds)
        at = made.index(b"--unshare-all")
        net = [] if b"--share-net" in made else [b"--unshare-net"]
        rest = [word for word in made[at + 1 :] if word != b"--share-net"]
        # Run as root without a user namespace, so that capabilities apply to the host.
        return [*made[:at], b"--unshare-ipc", b"--unshare-pid", b"--unshare-uts", *net, *rest]

    inside.ALWAYS = ("close_descriptors", "no_new_privileges")

    @replaces(filter_)
    def groups(original):
        return {name: each for name, each in original().items() if name != "handles"}


@fault("BACKEND-WRITE-04", "a read-only workspace can be written to", "one bind for all profiles")
def read_only_is_writable():
    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        kind = "full-dev" if profile == "read-only" and root != b"/" else profile
        return original(self, argv, root, kind, cwd, binds)


@fault(
    "BACKEND-WRITE-05",
    "the dynamic loader runs without the sandbox",
    "an allow list of the system's own files",
)
def the_loader_runs_bare():
    @replaces(Bubblewrap)
    def wrap(original, self, argv, context, cwd):
        words, added = original(self, argv, context, cwd)
        if os.path.basename(argv[0]).startswith(b"ld-linux"):
            return list(argv), added
        return words, added


@fault(
    "BACKEND-WRITE-01",
    "a device node that needs no privilege can be created",
    "MAKE_CHAR forgotten",
)
def whiteouts_are_made():
    make_char = 1 << 6
    landlock.FIRST &= ~make_char

    @replaces(ops)
    def made(original, name):
        found = original(name)
        return landlock.Landlock(filters=True) if isinstance(found, Bubblewrap) else found


def mounts_below(folder):
    """Return the mounts below a folder, because bubblewrap has to make each of them writable."""
    with open("/proc/self/mountinfo", "rb") as lines:
        places = [line.split()[4] for line in lines]
    return [place for place in places if place.startswith(folder + b"/")]


def mounts_near(root):
    """Return the mounts outside this root in the same top-level directory."""
    top = b"/" + root.split(b"/")[1]
    return [place for place in mounts_below(top) if not place.startswith(root + b"/")]


def with_writable(places_of):
    grants_too(places_of)

    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        made = original(self, argv, root, profile, cwd, binds)
        at = made.index(b"--chdir")
        more = [word for each in places_of(root, profile) for word in (b"--bind", each, each)]
        return [*made[:at], *more, *made[at:]] if root != b"/" else made


@fault("BACKEND-WRITE-06", "mounts below a read-only directory stay writable", "no AT_RECURSIVE")
def mounts_outside_are_forgotten():
    with_writable(lambda root, profile: mounts_near(root))


@fault("BACKEND-WRITE-06", "mounts in a read-only workspace stay writable", "no AT_RECURSIVE")
def mounts_inside_are_forgotten():
    with_writable(lambda root, profile: mounts_below(root) if profile == "read-only" else [])


@fault(
    "BACKEND-WRITE-01", "the third call runs without the sandbox", "the prepared part is used up"
)
def later_calls_run_bare():
    calls = []

    @replaces(Bubblewrap)
    def wrap(original, self, argv, context, cwd):
        calls.append(argv)
        made = original(self, argv, context, cwd)
        return made if len(calls) < 3 else (list(argv), made[1])


@fault(
    "BACKEND-WRITE-01",
    "the whole home directory is writable as the cache",
    "a bind of HOME for full-dev",
)
def the_home_is_the_cache():
    @replaces(Bubblewrap)
    def cache(original, self, root):
        home = os.environb.get(b"HOME", b"")
        return [b"--bind", home, home] if os.path.isdir(home) else []

    grants_too(lambda root, profile: [os.environb[b"HOME"]] if profile == "full-dev" else [])


@fault("BACKEND-WRITE-04", "a policy grant is writable under read-only", "a bind for each grant")
def grants_are_writable_under_read_only():
    @replaces(Bubblewrap)
    def mounts(original, self, context, given, claims):
        made = original(self, context, given, claims)
        if context.profile != "read-only" or "**" in given.grants:
            return made
        return made + [word for body in given.grants for word in self.grant(context.root, body)]


@fault(
    "BACKEND-WRITE-02", "the cache is bound at the target of its link", "realpath() of HOME/.cache"
)
def the_cache_is_where_its_name_leads():
    @replaces(context)
    def cache(original, root):
        return os.path.realpath(os.path.join(os.environb[b"HOME"], b".cache"))


@fault(
    "BACKEND-WRITE-07",
    "mounts that the host makes later appear inside",
    "bubblewrap makes all mounts slaves, not private",
)
def later_mounts_come_in():
    @replaces(Bubblewrap)
    def own_mounts(original, self):
        return []


@fault(
    "BACKEND-WRITE-02",
    "a file on stdin is passed as a descriptor",
    "it was opened only for reading",
)
def the_file_on_stdin_is_handed_in():
    @replaces(session)
    def can_be_opened_again(original, fd):
        return original(fd) and not os.path.isfile(f"/proc/self/fd/{fd}")

    # The ruleset against writing to named pipes would prevent this as well, so remove it.
    @replaces(Bubblewrap)
    def ruleset(original, self, root, profile):
        made = original(self, root, profile)
        file = os.path.realpath(b"/proc/self/fd/0")
        if made is not None and os.path.isfile(file):
            made["paths"].append((file, landlock.WRITE_FILE))
        return made


@fault("BACKEND-WRITE-09", "a home behind a link of the root has a cache", "realpath of HOME first")
def a_linked_home_has_a_cache():
    @replaces(context)
    def cache(original, root):
        home = os.path.realpath(os.environb.get(b"HOME") or b"/nowhere")
        named = os.path.join(home, b".cache")
        return named if os.path.isdir(named) and not tree.is_below(home, root) else original(root)


@fault("BACKEND-WRITE-09", "only the first link of a chain is checked", "one readlink")
def one_link_is_examined():
    @replaces(context)
    def cache(original, root):
        home = os.environb.get(b"HOME") or b"/nowhere"
        if tree.is_below(home, root) or not os.path.isdir(home + b"/.cache"):
            return original(root)
        return os.path.realpath(home + b"/.cache")


@fault("BACKEND-WRITE-09", "a session keeps its files in any TMPDIR", "mkdtemp")
def any_tmpdir_is_taken():
    @replaces(Bubblewrap)
    def prepare(original, self, context, claims):
        folder = tempfile.mkdtemp(dir=os.fsencode(os.environ.get("TMPDIR", "/tmp")))
        os.rmdir(folder)
        return original(self, context, claims)


@fault(
    "BACKEND-WRITE-01", "the objects that .git names in another place are writable", "git clone -s"
)
def alternates_are_writable():
    @replaces(Bubblewrap)
    def prepare(original, self, given, claims):
        original(self, given, claims)
        named = os.path.join(given.root, b".git/objects/info/alternates")
        if given.profile != "read-only" and os.path.isfile(named):
            with open(named, "rb") as file:
                place = file.readline().strip()
            if os.path.isdir(place):
                self.binds += [b"--bind", place, place]


@fault(
    "BACKEND-WRITE-04", "the directories above a denied file are writable mounts", "a rule first"
)
def a_policy_opens_directories():
    @replaces(Bubblewrap)
    def mounts(original, self, given, rules, claims):
        made = original(self, given, rules, claims)
        if given.profile != "read-only":
            return made
        kept = [made[at + 2] for at, word in enumerate(made) if word == b"--ro-bind"]
        opened = self.writable_in(given.root, rules, [path for path in kept if path != given.root])
        return [*(word for path in opened for word in (b"--bind", path, path)), *made]


def writable_too(folder):
    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        binds = [b"--bind", folder, folder, *binds]
        return original(self, argv, root, profile, cwd, binds)

    @replaces(Bubblewrap)
    def writable(original, self, root, profile):
        return [*original(self, root, profile), folder]


@fault("BACKEND-WRITE-01", "/run is writable", "sockets of tools in /run")
def run_is_writable():
    writable_too(b"/run")


@fault("BACKEND-WRITE-01", "/var/cache is writable", "caches of package managers")
def the_caches_of_the_system_are_writable():
    writable_too(b"/var/cache")


def like_the_cache(root):
    """Return the entries of HOME whose names begin like the name of the cache."""
    folder = context.cache(root)
    home = os.path.dirname(folder) if folder else b""
    names = sorted(os.listdir(home)) if folder else []
    return [os.path.join(home, name) for name in names if name.startswith(b".cache")]


@fault("BACKEND-WRITE-01", "each name that begins like the cache is granted", "HOME/.cache*")
def names_like_the_cache_are_granted():
    @replaces(Bubblewrap)
    def cache(original, self, root):
        return [word for path in like_the_cache(root) for word in (b"--bind", path, path)]

    grants_too(lambda root, profile: like_the_cache(root) if profile == "full-dev" else [])
