"""The operations of Seatbelt, and the narrower operations that a wider one includes."""

from __future__ import annotations

from functools import cache

DEFAULT = "default"

# Each wider operation with the operations that it includes; `default` includes all.
_BELOW: dict[str, str] = {
    "file*": """file-read* file-write* file-chroot file-clone file-fsctl file-ioctl
        file-issue-extension* file-link file-map-executable file-mknod file-mount* file-revoke
        file-search file-test-existence file-unmount""",
    "file-read*": "file-read-data file-read-metadata file-read-xattr",
    "file-write*": """file-write-acl file-write-create file-write-data file-write-flags
        file-write-mode file-write-mount file-write-owner file-write-setugid file-write-times
        file-write-umount file-write-unlink file-write-unmount file-write-xattr""",
    "file-issue-extension*": "file-issue-extension",
    "file-mount*": "file-mount file-mount-update",
    "network*": "network-bind network-inbound network-outbound",
    "process*": "process-exec* process-fork process-info*",
    "process-exec*": "process-exec process-exec-interpreter",
    "process-info*": """process-info-codesignature process-info-dirtycontrol process-info-listpids
        process-info-pidfdinfo process-info-pidfileportinfo process-info-pidinfo
        process-info-rusage process-info-setcontrol""",
    "ipc*": "ipc-posix* ipc-sysv*",
    "ipc-posix*": "ipc-posix-issue-extension ipc-posix-sem* ipc-posix-shm*",
    "ipc-posix-sem*": """ipc-posix-sem-create ipc-posix-sem-open ipc-posix-sem-post
        ipc-posix-sem-unlink ipc-posix-sem-wait""",
    "ipc-posix-shm*": "ipc-posix-shm-read* ipc-posix-shm-write*",
    "ipc-posix-shm-read*": "ipc-posix-shm-read-data ipc-posix-shm-read-metadata",
    "ipc-posix-shm-write*": """ipc-posix-shm-write-create ipc-posix-shm-write-data
        ipc-posix-shm-write-unlink""",
    "ipc-sysv*": "ipc-sysv-msg ipc-sysv-sem ipc-sysv-shm",
    "mach*": """mach-bootstrap mach-issue-extension mach-lookup mach-per-user-lookup mach-priv*
        mach-register mach-task-name""",
    "mach-priv*": "mach-priv-host-port mach-priv-task-port",
    "sysctl*": "sysctl-read sysctl-write",
    "iokit*": "iokit-get-properties iokit-issue-extension iokit-open iokit-set-properties",
    "system*": """system-acct system-audit system-chud system-debug system-fsctl system-info
        system-kext* system-lcid system-mac-label system-mac-syscall system-nfssvc
        system-pacctl system-privilege system-reboot system-sched system-set-time system-socket
        system-suspend-resume system-swap""",
    "system-kext*": "system-kext-load system-kext-query system-kext-unload",
    "nvram*": "nvram-delete nvram-get nvram-set",
    "user-preference*": "user-preference-read user-preference-write",
    DEFAULT: """file* network* process* ipc* mach* sysctl* iokit* system* nvram* user-preference*
        signal appleevent-send device-camera device-microphone distributed-notification-post
        generic-issue-extension job-creation lsopen pseudo-tty""",
}

_PARENT = {child: parent for parent, children in _BELOW.items() for child in children.split()}


def known(name: str) -> bool:
    return name == DEFAULT or name in _PARENT


@cache
def chain(name: str) -> tuple[str, ...]:
    """Return the operation, the wider ones, and `default`, the narrowest first."""
    met = [name]
    while met[-1] != DEFAULT:
        met.append(_PARENT[met[-1]])
    return tuple(met)


@cache
def leaves(name: str) -> tuple[str, ...]:
    """Return the narrowest operations that an operation includes, or the operation itself."""
    if name not in _BELOW:
        return (name,)
    return tuple(leaf for child in _BELOW[name].split() for leaf in leaves(child))


def on_paths(name: str) -> bool:
    """True if the subject of the operation is a path."""
    return name == "file*" or "file*" in chain(name)


def is_execution(name: str) -> bool:
    return "process-exec*" in chain(name)
