"""The bubblewrap backend: namespaces and mounts, made by the command bwrap."""

from __future__ import annotations

import os

import backend.context as context_
import backend.filter as filter_
import backend.inside as inside
import backend.landlock as landlock
import backend.naming as naming
import backend.planned as planned
import backend.starting as starting
import backend.tree as tree
from backend.claims import Claims, nothing, requested

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from backend.context import Context
    from backend.environment import Pairs
    from backend.rules import Rules
    from policy.load import Rule

BWRAP = b"/usr/bin/bwrap"
UNSHARE = b"/usr/bin/unshare"
TRUE = b"/bin/true"
# Programs have one of these as their TMPDIR.
SCRATCH, OTHER_SCRATCH = b"/tmp", b"/var/tmp"
QUEUES = b"/dev/mqueue"
# At most this many paths of a policy get a mount, because bubblewrap needs more time for each
# further mount.
MOST_MOUNTS = 1000
# Where programs may write in /dev if a read-only workspace lies there.
DEVICES = b"null zero full random urandom tty pts".split()


class Bubblewrap:
    """One session.

    filters: True if bubblewrap also installs a filter of system calls.
    """

    accepts_late_names = False

    def __init__(self, filters: bool) -> None:
        self.filters = filters
        self.binds: list[bytes] = []
        self.links: tree.InnerLinks | None = None

    # Probing ------------------------------------------------------------------------------

    def probe(self, profile: str, given: Rules | None, egress: Sequence[str] | None) -> Claims:
        wanted = requested(profile, egress, bool(given and given.deny_read))
        why = self.fails_to_start()
        if why is not None:
            return nothing(wanted, f"bubblewrap does not start here: {why}")
        made = Claims()
        made.fully("fs-write", "fs-metadata", "process")
        if profile in ("no-network", "ci-only"):
            made.fully("network")
        if egress and egress != ["*"]:
            made.lacks("network", "a list of egress is not filtered: the network is open")
        self.claim_ipc(made, profile)
        if self.filters:
            made.fully("kernel")
        if given is not None:
            self.claim_rules(made, given, profile)
        return made

    def fails_to_start(self) -> str | None:
        return starting.fails_to_start(self.command([TRUE], b"/", "read-only"))

    def claim_ipc(self, made: Claims, profile: str) -> None:
        if self.filters:
            made.fully("ipc")
            if landlock.running_abi() < 2:
                made.lacks("ipc", "named pipes outside can be written to: no Landlock of ABI 2")
            return
        made.lacks("ipc", "sockets and named pipes outside are reached by their paths")
        made.lacks("ipc", "keyrings are shared")
        if profile not in ("no-network", "ci-only"):
            made.lacks("ipc", "abstract sockets are shared with the network")

    def claim_rules(self, made: Claims, given: Rules, profile: str) -> None:
        if given.deny_read:
            made.fully("fs-read")
        for aspect, rules in self.by_aspect(given, profile):
            for rule in rules:
                if naming.is_wild(rule):
                    why = "a mount needs a name: a path that is made later is not covered"
                    self.lacks_rule(made, aspect, rule, why, late=True)
        made.not_enforced += [
            naming.unenforced(rule, "a mount needs a name: the rule grants nothing")
            for rule in given.wild_grants()
        ]

    def by_aspect(self, given: Rules, profile: str) -> list[tuple[str, list[Rule]]]:
        """Return the denying rules for each aspect. If nothing is writable anyway, rules against
        modifying are left out."""
        modify = [] if profile == "read-only" else given.deny_modify
        return [("fs-write", modify), ("fs-read", given.deny_read)]

    def lacks_rule(
        self, made: Claims, aspect: str, rule: Rule, why: str, late: bool = False
    ) -> None:
        """Report a rule that is not enforced, and lower the claim of its aspect to partial.

        late: True if the rule is not enforced only for names that are created later. If the caller
            accepts this, the claim stays.
        """
        entry = naming.unenforced(rule, why)
        if entry not in made.not_enforced:
            made.not_enforced.append(entry)
        if not (late and self.accepts_late_names):
            made.lacks(aspect, f"the rule {rule.body} does not hold: {why}")

    # One session ----------------------------------------------------------------------------

    def prepare(self, context: Context, claims: Claims) -> None:
        for path in context.readable:
            if path.startswith((b"/tmp/", b"/dev/")) and os.path.exists(path):
                self.binds += [b"--ro-bind", path, path]
        if context.rules is not None:
            self.binds += self.mounts(context, context.rules, claims)

    def mounts(self, context: Context, given: Rules, claims: Claims) -> list[bytes]:
        """Return the mounts in the order in which they are made.

        First come permitted directories, then directories above other mounts (mounted on
        themselves), then paths that must not be modified, then paths that must not be read.
        """
        made: list[bytes] = []
        writable = context.profile != "read-only"
        if "**" not in given.grants:
            made += [b"--ro-bind", context.root, context.root]
            for body in given.grants if writable else ():
                made += self.grant(context.root, body)
        mounted = tree.mounted_names(context.root)
        inner = [pair for pair in mounted if tree.is_below(pair[1], context.root)]
        self.links = tree.InnerLinks(context.root, inner)
        kept: dict[bytes, None] = {}
        for relative in sorted(tree.entries(context.root)):
            path = os.path.join(context.root, relative)
            if os.path.islink(path):
                self.report_link(relative, context, given, claims)
            elif self.denied(given, "modify", relative):
                kept[path] = None
        if given.deny_modify:
            kept.update(dict.fromkeys(tree.closed(context.root)))
        kept.update(dict.fromkeys(tree.other_names(context.root, kept)))
        hidden = self.hidden(context.root, given)
        self.cut(kept, hidden, context, given, claims)
        open_ = self.writable_in(context.root, given, [*kept, *hidden]) if writable else []
        # A mount covers earlier mounts below it, so the mounts above come first.
        for path in sorted({*kept, *open_}):
            made += self.keep(path) if path in kept else [b"--bind", path, path]
        for path in hidden:
            made += self.hide(path)
        outside = [pair for pair in mounted if pair not in inner]
        for path in self.seen_through(outside, kept):
            made += self.keep(path)
        for path in self.seen_through(outside, hidden):
            made += self.hide(path)
        self.report_absent(context, given, claims)
        for aspect, rules in self.by_aspect(given, context.profile) if self.links.cut else ():
            for rule in rules:
                self.lacks_rule(claims, aspect, rule, "links give a file too many names")
        return made

    def seen_through(
        self, mounted: Sequence[tuple[bytes, bytes]], paths: Iterable[bytes]
    ) -> list[bytes]:
        """Return further paths of these files, and of files below them, which these mounts give."""
        names = (tree.seen_through(pair, path) for path in paths for pair in mounted)
        return [name for name in names if name is not None]

    def denied(self, given: Rules, op: str, relative: bytes) -> bool:
        """True if a path is denied by any of its names."""
        if given.denied(op, os.fsdecode(relative)):
            return True
        names = self.links.names(relative) if self.links is not None else ()
        return any(given.denying(op, os.fsdecode(name)) is not None for name in names)

    def report_link(self, relative: bytes, context: Context, given: Rules, claims: Claims) -> None:
        """Report a rule that denies a link.

        A mount covers the file to which a link leads, not the link. So the link can be replaced,
        and a file outside can be read through it. A rule may name it by a path through other links.
        """
        others = self.links.names(relative) if self.links is not None else ()
        names = [os.fsdecode(name) for name in (relative, *others)]
        real = os.path.realpath(os.path.join(context.root, relative))
        leads_out = not tree.is_below(real, context.root)
        for op, aspect, listed, fails in (
            ("modify", "fs-write", given.deny_modify, context.profile != "read-only"),
            ("read", "fs-read", given.deny_read, leads_out),
        ):
            bodies = {self.denying_at(given, op, name) for name in names}
            for rule in listed if fails else ():
                if rule.body in bodies or any(naming.reaches_below(rule, name) for name in names):
                    self.lacks_rule(claims, aspect, rule, "it is a link, or lies behind one")

    def denying_at(self, given: Rules, op: str, path: str) -> str | None:
        """Return the rule that denies a path, or a new name below the path."""
        return given.denying(op, path) or given.denying(op, f"{path}/new-name")

    def cut(
        self,
        kept: dict[bytes, None],
        hidden: list[bytes],
        context: Context,
        given: Rules,
        claims: Claims,
    ) -> None:
        """Drop the mounts above the limit, and report the rules that they would have enforced."""
        why = "more files match than can be mounted over"
        for op, aspect, paths, listed in (
            ("modify", "fs-write", list(kept), given.deny_modify),
            ("read", "fs-read", hidden, given.deny_read),
        ):
            left = paths[MOST_MOUNTS // 2 :]
            bodies = {self.denying_at(given, op, naming.below(context.root, path)) for path in left}
            for rule in listed:
                if rule.body in bodies:
                    self.lacks_rule(claims, aspect, rule, why)
        for path in list(kept)[MOST_MOUNTS // 2 :]:
            del kept[path]
        del hidden[MOST_MOUNTS // 2 :]

    def grant(self, root: bytes, body: str) -> list[bytes]:
        path = os.path.join(root, os.fsencode(body.removesuffix("/**")))
        # A path through a link gets no mount, because it may lead outside of the workspace.
        if os.path.realpath(path) != path or not os.path.exists(path):
            return []
        return [b"--bind", path, path]

    def keep(self, path: bytes) -> list[bytes]:
        # A directory that cannot be listed is hidden: it may contain a pipe, and a program that
        # knows its name could write to it.
        if os.path.isdir(path) and not tree.is_open(path):
            return self.hide(path)
        return [b"--ro-bind", b"/dev/null" if tree.is_channel(path) else path, path]

    def writable_in(self, root: bytes, given: Rules, mounted: Iterable[bytes]) -> list[bytes]:
        """Return the paths that become writable mounts. These are the directories above other
        mounts, and exceptions, which may lie in a read-only mount."""
        found = self.ancestors(mounted, root)
        for rule in given.exceptions():
            path = os.path.join(root, os.fsencode(naming.plain(rule)))
            if os.path.realpath(path) == path and os.path.exists(path):
                found.append(path)
        return [path for path in found if not given.denied("modify", naming.below(root, path))]

    def ancestors(self, paths: Iterable[bytes], root: bytes) -> list[bytes]:
        """Return the directories above the mounts. They must be mounts too. Otherwise a program
        could rename one of them, and so move the mount below it."""
        found: dict[bytes, None] = {}
        for path in paths:
            folder = os.path.dirname(path)
            while folder != root:
                found[folder] = None
                folder = os.path.dirname(folder)
        return sorted(found)

    def hidden(self, root: bytes, given: Rules) -> list[bytes]:
        """Return the paths that are denied to read. A path below another such path is left out."""
        found: list[bytes] = []
        closed = {*tree.closed(root)} if given.deny_read else set()
        for relative in sorted(tree.entries(root)):
            path = os.path.join(root, relative)
            covered = any(path.startswith(each + b"/") for each in found)
            denied = path in closed or self.denied(given, "read", relative)
            if denied and not covered:
                found.append(path)
        return [*found, *(path for path in tree.other_names(root, found) if path not in found)]

    def hide(self, path: bytes) -> list[bytes]:
        if os.path.islink(path):
            return []
        if os.path.isdir(path):
            return [b"--perms", b"0000", b"--tmpfs", path, b"--remount-ro", path]
        return [b"--ro-bind", b"/dev/null", path]

    def report_absent(self, context: Context, given: Rules, claims: Claims) -> None:
        for aspect, rules in self.by_aspect(given, context.profile):
            for rule in rules:
                if naming.is_wild(rule):
                    continue
                path = os.path.join(context.root, os.fsencode(naming.plain(rule)))
                if not os.path.lexists(path) and not self.lies_in_closed(path):
                    why = "it is not there yet, and nothing is made in a workspace"
                    self.lacks_rule(claims, aspect, rule, why, late=True)
                elif aspect == "fs-write" and self.leads_through_link(path):
                    self.lacks_rule(claims, aspect, rule, "a link on its way can be replaced")
                elif not tree.is_below(os.path.realpath(path), context.root):
                    self.lacks_rule(claims, aspect, rule, "a link on its way leads out")

    def leads_through_link(self, path: bytes) -> bool:
        return os.path.realpath(os.path.dirname(path)) != os.path.dirname(path)

    def lies_in_closed(self, path: bytes) -> bool:
        """True if the path lies in a directory that cannot be listed, which is then hidden."""
        folder = os.path.dirname(path)
        while not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        return not os.access(folder, os.R_OK | os.X_OK)

    def wrap(
        self, argv: Sequence[bytes], context: Context, cwd: bytes
    ) -> tuple[list[bytes], Pairs]:
        made = self.command(argv, context.root, context.profile, cwd, self.binds)
        return made, [(b"TMPDIR", self.scratch(context.root, context.profile))]

    def command(
        self,
        argv: Sequence[bytes],
        root: bytes,
        profile: str,
        cwd: bytes = b"/",
        binds: Sequence[bytes] = (),
    ) -> list[bytes]:
        closed = profile in ("no-network", "ci-only")
        made = [*self.own_mounts(), BWRAP, b"--unshare-all"]
        made += [] if closed else [b"--share-net"]
        made += self.hardening()
        made += [b"--ro-bind", b"/", b"/", b"--dev", b"/dev", b"--proc", b"/proc"]
        made += [b"--ro-bind", b"/proc/sys", b"/proc/sys"]
        made += [b"--tmpfs", self.scratch(root, profile)]
        made += [b"--mqueue", QUEUES]
        if root != b"/":
            bind = b"--ro-bind" if profile == "read-only" else b"--bind"
            made += [bind, root, root]
        if profile == "full-dev":
            made += self.cache(root)
        mounts = planned.mounts(binds, root)
        made += [*binds, b"--chdir", cwd, b"--"]
        code = filter_.program(inet=True) if self.filters else None
        ruleset = self.ruleset(root, profile) if self.filters else None
        run = inside.command(argv, session=False, mounts=mounts, ruleset=ruleset, filter_=code)
        return made + run

    def own_mounts(self) -> list[bytes]:
        """Return the command that makes the mounts private. Otherwise a file system that is mounted
        outside later would appear inside, and would be writable."""
        user = [b"--user", b"--map-current-user"] if os.geteuid() != 0 else []
        return [UNSHARE, *user, b"--mount", b"--propagation", b"private"]

    def ruleset(self, root: bytes, profile: str) -> dict[str, Any] | None:
        """Return the Landlock ruleset that refuses writing to named pipes.

        A read-only mount does not prevent such writes, and a process outside may read the pipe. The
        caller uses the ruleset only together with a filter, because Landlock also prevents the
        program from mounting. Return None if the kernel's Landlock is too old.
        """
        if landlock.running_abi() < 2:
            return None
        write = landlock.WRITE_FILE
        places = [*self.own(root, profile), *self.writable(root, profile)]
        paths = [(b"/", landlock.REFER), *((path, write) for path in places)]
        return {"handled": (write | landlock.REFER, 0, 0), "size": 8, "paths": paths}

    def scratch(self, root: bytes, profile: str) -> bytes:
        """Return the private directory of programs.

        The ruleset grants writing to it, and so to pipes of a workspace that lies there.
        """
        return OTHER_SCRATCH if profile == "read-only" and root.startswith(b"/tmp/") else SCRATCH

    def own(self, root: bytes, profile: str) -> list[bytes]:
        """Return the places that belong to the sandbox.

        Message queues are a separate file system, so a grant of /dev does not include them.
        """
        closed = profile == "read-only" and root.startswith(b"/dev/")
        devices = [b"/dev/" + name for name in DEVICES] if closed else [b"/dev"]
        return [self.scratch(root, profile), *devices, QUEUES, b"/proc"]

    def writable(self, root: bytes, profile: str) -> list[bytes]:
        made = [root] if profile != "read-only" else []
        folder = context_.cache(root) if profile == "full-dev" else None
        return made if folder is None else [*made, folder]

    def hardening(self) -> list[bytes]:
        return [b"--new-session", b"--die-with-parent", b"--cap-drop", b"ALL"]

    def cache(self, root: bytes) -> list[bytes]:
        folder = context_.cache(root)
        if folder is None:
            return []
        made = [b"--bind", folder, folder]
        for between in self.between(folder, root):
            made += [b"--bind", between, between]
        return made

    def between(self, cache: bytes, root: bytes) -> list[bytes]:
        """Return the directories between the cache and the root, from the top. Each of them gets a
        mount. Otherwise a program could rename it, and so move the root."""
        found: list[bytes] = []
        folder = os.path.dirname(root)
        while folder.startswith(cache + b"/"):
            found.insert(0, folder)
            folder = os.path.dirname(folder)
        return found

    def shutdown(self) -> None:
        self.binds = []
