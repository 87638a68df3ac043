"""The operations of Seatbelt, and the narrower operations that each wider one includes.

The names are from published profiles and lists. An operation with another name is unknown here. Its
place among the others is then derived from its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

DEFAULT = "default"

# For each wider operation, the operations that it includes. `default` is not listed, because it
# includes all.
_BELOW: dict[str, str] = {
    "file*": """file-read* file-write* file-chroot file-clone file-fsctl file-ioctl
        file-issue-extension* file-link file-map-executable file-mknod file-mount* file-revoke
        file-search file-swap file-test-existence file-unmount""",
    "file-read*": "file-read-data file-read-metadata file-read-xattr",
    "file-write*": """file-write-acl file-write-create file-write-data file-write-flags
        file-write-mode file-write-mount file-write-owner file-write-setugid file-write-times
        file-write-umount file-write-unlink file-write-unmount file-write-xattr""",
    "file-issue-extension*": "file-issue-extension",
    "file-mount*": "file-mount file-mount-update",
    "fs-quota*": "fs-quota-get fs-quota-off fs-quota-on fs-quota-set fs-quota-stat fs-quota-sync",
    "fs-snapshot*": """fs-snapshot-create fs-snapshot-delete fs-snapshot-mount fs-snapshot-rename
        fs-snapshot-revert""",
    "device*": "device-camera device-microphone",
    "network*": "network-bind network-inbound network-outbound",
    "process*": """process-codesigning process-codesigning* process-exec* process-fork process-info*
        process-iopolicy* process-legacy-codesigning-status*""",
    "process-codesigning*": """process-codesigning-blob-get process-codesigning-cdhash-get
        process-codesigning-entitlements-blob-get process-codesigning-identity-get
        process-codesigning-status* process-codesigning-teamid-get
        process-codesigning-text-offset-get""",
    "process-codesigning-status*": "process-codesigning-status-get process-codesigning-status-set",
    "process-exec*": "process-exec-interpreter process-exec-update-label",
    "process-info*": """process-info-codesignature process-info-dirtycontrol process-info-ledger
        process-info-listpids process-info-pidfdinfo process-info-pidfileportinfo
        process-info-pidinfo process-info-rusage process-info-sandbox-container
        process-info-setcontrol""",
    "process-iopolicy*": "process-iopolicy-get process-iopolicy-set",
    "process-legacy-codesigning-status*": """process-legacy-codesigning-status-get
        process-legacy-codesigning-status-set""",
    "ipc*": "ipc-posix* ipc-sysv*",
    "ipc-posix*": "ipc-posix-issue-extension ipc-posix-sem* ipc-posix-shm*",
    "ipc-posix-sem*": """ipc-posix-sem-create ipc-posix-sem-open ipc-posix-sem-post
        ipc-posix-sem-unlink ipc-posix-sem-wait""",
    "ipc-posix-shm*": "ipc-posix-shm-read* ipc-posix-shm-write*",
    "ipc-posix-shm-read*": "ipc-posix-shm-read-data ipc-posix-shm-read-metadata",
    "ipc-posix-shm-write*": """ipc-posix-shm-write-create ipc-posix-shm-write-data
        ipc-posix-shm-write-unlink""",
    "ipc-sysv*": "ipc-sysv-msg ipc-sysv-sem ipc-sysv-shm",
    "mach*": """mach-bootstrap mach-cross-domain-lookup mach-derive-port mach-host*
        mach-issue-extension mach-kernel-endpoint mach-lookup mach-message-send
        mach-per-user-lookup mach-priv* mach-register mach-task*""",
    "mach-host*": "mach-host-exception-port-set mach-host-special-port-set",
    "mach-priv*": "mach-priv-host-port mach-priv-task-port",
    "mach-task*": """mach-task-exception-port-set mach-task-inspect mach-task-name mach-task-read
        mach-task-special-port*""",
    "mach-task-special-port*": "mach-task-special-port-get mach-task-special-port-set",
    "socket-option*": "socket-option-get socket-option-set",
    "syscall*": "syscall-mach syscall-mig syscall-unix",
    "sysctl*": "sysctl-read sysctl-write",
    "iokit*": """iokit-async-external-method iokit-external-method iokit-external-trap
        iokit-get-properties iokit-issue-extension iokit-open* iokit-set-properties""",
    "iokit-open*": "iokit-open iokit-open-service iokit-open-user-client",
    "system*": """system-acct system-audit system-automount system-chud system-debug system-fcntl
        system-fsctl system-info system-kas-info system-kext* system-lcid system-mac-label
        system-mac-syscall system-memorystatus-control system-necp-client-action system-nfssvc
        system-package-check system-pacctl system-privilege system-privileged-debug system-reboot
        system-sched system-set-time system-socket system-suspend-resume system-swap
        system-write-bootstrap""",
    "system-kext*": "system-kext-load system-kext-query system-kext-unload",
    "nvram*": "nvram-delete nvram-get nvram-set",
    "user-preference*": "user-preference-read user-preference-write",
    "managed-preference*": "managed-preference-read",
    DEFAULT: """file* fs-quota* fs-rename fs-snapshot* network* process* ipc* mach* socket-ioctl
        socket-option* syscall* sysctl* iokit* system* nvram* user-preference* managed-preference*
        appleevent-send authorization-right-obtain boot-arg-set darwin-notification-post device*
        distributed-notification-post dynamic-code-generation generic-issue-extension hid-control
        isp-command-send job-creation load-unsigned-code lsopen necp-client-open
        opendirectory-user-modify pseudo-tty qtn-download qtn-sandbox qtn-user sandbox-check signal
        storage-class-map""",
}

# Other names of operations, as published copies of the language's own prelude define them.
ALIASES = {
    "process-exec": "process-exec*",
    "ipc-posix-sem": "ipc-posix-sem*",
    "ipc-posix-shm": "ipc-posix-shm*",
    "file-issue-extension-read": "file-issue-extension",
    "file-issue-extension-write": "file-issue-extension",
    "file-unlink": "file-write-unlink",
    "system-misc": "system*",
    "time-set": "system-set-time",
    "sysctl": "sysctl*",
}

_PARENT = {child: parent for parent, children in _BELOW.items() for child in children.split()}
_OPERATION = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*\*?")


def canonical(name: str) -> str:
    """Return the name that the table uses for an operation."""
    return ALIASES.get(name, name)


def known(name: str) -> bool:
    return name == DEFAULT or name in _PARENT or name in ALIASES


def may_be_one(name: str) -> bool:
    """True if the name has the form of an operation."""
    return _OPERATION.fullmatch(name) is not None


def includes(wide: str, name: str) -> bool:
    """True if an operation with a star includes the other operation, judged by the names."""
    if not wide.endswith("*") or wide == name:
        return False
    stem = wide[:-1]
    return name.rstrip("*") == stem or name.startswith(f"{stem}-")


@cache
def chain(name: str) -> tuple[str, ...]:
    """Return the operation, then all operations that include it.

    They are ordered from narrow to wide, and end with `default`.
    """
    met = [canonical(name)]
    while met[-1] != DEFAULT:
        met.append(_PARENT[met[-1]] if met[-1] in _PARENT else _parent_by_name(met[-1]))
    return tuple(met)


def _parent_by_name(name: str) -> str:
    return max((wide for wide in _BELOW if includes(wide, name)), key=len, default=DEFAULT)


def chain_with(name: str, unknown: Iterable[str]) -> tuple[str, ...]:
    """Return the chain of the operation, with the unknown operations that include the operation."""
    own = chain(name)
    wide = [each for each in unknown if each not in own and includes(each, own[0])]
    narrow = [*own[:-1], *wide]
    # If two operations include this one, the one with the longer name is narrower. The operation
    # itself comes first.
    return (
        own[0],
        *sorted((each for each in narrow if each != own[0]), key=len, reverse=True),
        *([DEFAULT] if own[0] != DEFAULT else []),
    )


@cache
def leaves(name: str) -> tuple[str, ...]:
    """Return the narrowest operations that an operation includes, or the operation itself."""
    name = canonical(name)
    if name not in _BELOW:
        return (name,)
    return tuple(leaf for child in _BELOW[name].split() for leaf in leaves(child))


def on_paths(name: str) -> bool:
    """True if the subject of the operation is a path."""
    return name == "file*" or "file*" in chain(name)


def is_execution(name: str) -> bool:
    return "process-exec*" in chain(name)
