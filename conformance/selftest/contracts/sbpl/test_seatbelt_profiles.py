"""Tests of the decisions that profiles in daily use lead to."""

from __future__ import annotations

import pytest

from contracts.sbpl.seatbelt.decide import Decider
from contracts.sbpl.seatbelt.question import opened, subject_of
from selftest.tools import ROOT

PROFILES = ROOT / "fixtures" / "seatbelt"
AGENT = {"WORKSPACE": "/Users/u/ws", "TEMPORARY": "/private/var/folders/ab/T"}
BROWSER = {"HOME_DIRECTORY": "/Users/u", "SYSTEM_RELEASE": "12"}
OLD = {"HOME_DIRECTORY": "/Users/u/", "LOG_DENIALS": "TRUE"}
DAEMON = {"_HOME": "/Users/u"}
PACKAGES = {"_TEMPORARY": "/private/tmp/build"}
LOCAL = {**PACKAGES, "_LOCAL_NETWORK": "1"}
NETWORK = {**PACKAGES, "_NETWORK": "1", "_EXTRA": "/opt/extra"}

Row = tuple[str, dict[str, str], str, str | None, str]
ANSWERS: list[Row] = [
    ("agent", AGENT, "file-write-create", "/Users/u/ws/x", "allow"),
    ("agent", AGENT, "file-write-create", "/Users/u/wsx", "deny"),
    ("agent", AGENT, "file-write-create", "/Users/u/ws/.git/hooks/pre-commit", "deny"),
    ("agent", AGENT, "file-write-data", "/Users/u/ws/.git/config", "deny"),
    ("agent", AGENT, "file-read-data", "/Users/u/ws/.git/config", "allow"),
    ("agent", AGENT, "file-read-data", "/Users/u/.ssh/id_ed25519", "deny"),
    ("agent", AGENT, "file-write-data", "/dev/ttys003", "allow"),
    ("agent", AGENT, "file-write-data", "/dev/null", "undecidable"),
    ("agent", AGENT, "file-read-metadata", "/Users/u", "allow"),
    ("agent", AGENT, "file-read-metadata", "/System/Volumes/Data", "allow"),
    ("agent", AGENT, "file-read-metadata", "/System/Volumes/Data/private", "deny"),
    ("agent", AGENT, "mach-host-special-port-set", None, "deny"),
    ("agent", AGENT, "mach-lookup", "com.apple.system.logger", "allow"),
    ("agent", AGENT, "mach-lookup", "com.apple.cfprefsd.agent", "deny"),
    ("agent", AGENT, "mach-lookup", "com.apple.SecurityServer", "deny"),
    ("agent", AGENT, "iokit-open", "RootDomainUserClient", "allow"),
    ("agent", AGENT, "iokit-open", "IOSurfaceRootUserClient", "allow"),
    ("agent", AGENT, "iokit-open", "AppleKeyStore", "deny"),
    ("agent", AGENT, "process-info-pidinfo", "self", "allow"),
    ("agent", AGENT, "process-info-pidinfo", "others", "deny"),
    ("agent", AGENT, "signal", "same-sandbox", "allow"),
    ("agent", AGENT, "signal", None, "undecidable"),
    ("agent", AGENT, "user-preference-read", "com.apple.dock", "allow"),
    ("agent", AGENT, "user-preference-write", "com.apple.dock", "deny"),
    ("agent", AGENT, "pseudo-tty", None, "allow"),
    ("agent", AGENT, "ipc-posix-sem-create", "/psm", "allow"),
    ("agent", AGENT, "ipc-posix-shm-read-data", "apple.cfprefs.501v1", "allow"),
    ("agent", AGENT, "ipc-posix-shm-write-create", "/psm_0a", "allow"),
    ("agent", AGENT, "ipc-posix-shm-write-create", "/psm_0g", "deny"),
    ("agent", AGENT, "sysctl-read", "hw.perflevel0.name", "allow"),
    ("agent", AGENT, "sysctl-read", "kern.procargs2", "deny"),
    ("agent", AGENT, "sysctl-write", "kern.grade_cputype", "allow"),
    ("agent", AGENT, "system-mac-syscall", "Sandbox:67", "allow"),
    ("agent", AGENT, "system-mac-syscall", "Sandbox:66", "deny"),
    ("agent", AGENT, "system-fsctl", "FSIOC_CAS_BSDFLAGS", "allow"),
    ("agent", AGENT, "system-socket", "AF_INET", "deny"),
    ("agent", AGENT, "network-outbound", "localhost:3128", "allow"),
    ("agent", AGENT, "network-outbound", "127.0.0.1:3128", "allow"),
    ("agent", AGENT, "network-outbound", "[::1]:3128", "allow"),
    ("agent", AGENT, "network-outbound", "::ffff:127.0.0.1:3128", "deny"),
    ("agent", AGENT, "network-outbound", "localhost:3129", "deny"),
    ("agent", AGENT, "network-outbound", "192.0.2.1:3128", "deny"),
    ("agent", AGENT, "network-outbound", "/private/var/run/x", "deny"),
    ("agent", AGENT, "network-bind", "localhost:80", "allow"),
    ("agent", AGENT, "network-bind", "0.0.0.0:80", "deny"),
    ("agent", AGENT, "process-exec", "/bin/sh", "allow"),
    ("browser", BROWSER, "mach-lookup", "com.apple.release.eleven", "allow"),
    ("browser", BROWSER, "mach-lookup", "com.apple.release.ten", "undecidable"),
    ("browser", OLD, "mach-lookup", "com.apple.release.ten", "allow"),
    ("browser", OLD, "mach-lookup", "com.apple.diagnosticd", "allow"),
    ("browser", BROWSER, "file-read-data", "/System/Library/x", "allow"),
    ("browser", BROWSER, "file-read-data", "/Users/u/Library/Fonts/a.otf", "allow"),
    ("browser", OLD, "file-read-data", "/Users/u/Library/Fonts/a.otf", "allow"),
    ("browser", BROWSER, "file-read-data", "/Users/uxLibrary/Fonts/a.otf", "undecidable"),
    ("browser", BROWSER, "file-read-metadata", "/Users/u/Library", "allow"),
    ("browser", BROWSER, "file-write-data", "/private/tmp/browser/x", "allow"),
    ("browser", BROWSER, "file-write-data", "/private/tmp/x", "deny"),
    ("browser", BROWSER, "file-read-data", "/private/tmp/shm-1", "allow"),
    ("browser", BROWSER, "sysctl-read", "kern.eleven", "allow"),
    ("browser", BROWSER, "sysctl-read", "kern.ten", "deny"),
    ("browser", OLD, "sysctl-read", "kern.ten", "allow"),
    ("browser", BROWSER, "iokit-open-user-client", "AGXDeviceUserClient", "allow"),
    ("browser", BROWSER, "signal", "self", "allow"),
    ("browser", BROWSER, "signal", "others", "deny"),
    ("browser", BROWSER, "syscall-unix", "SYS_write", "allow"),
    ("browser", BROWSER, "syscall-unix", "24", "allow"),
    ("browser", BROWSER, "syscall-unix", "SYS_ptrace", "deny"),
    ("browser", BROWSER, "network-outbound", "192.0.2.1:443", "deny"),
    ("browser", BROWSER, "dream-catching", None, "deny"),
    ("daemon", DAEMON, "file-read-data", "/usr/lib/libc.dylib", "allow"),
    ("daemon", DAEMON, "file-read-data", "/Users/u/.ssh/id_ed25519", "deny"),
    (
        "daemon",
        DAEMON,
        "file-write-create",
        "/Users/u/Library/Caches/org.example.service/x",
        "allow",
    ),
    ("daemon", DAEMON, "file-write-create", "/Users/u/Library/Caches/org.example.servicex", "deny"),
    (
        "daemon",
        DAEMON,
        "file-read-data",
        "/Users/u/Library/Preferences/org.example.service.plist",
        "allow",
    ),
    ("daemon", DAEMON, "file-read-data", "/usr/share/x", "undecidable"),
    (
        "daemon",
        DAEMON,
        "file-write-data",
        "/Volumes/x/.TemporaryItems/folders.501/y",
        "undecidable",
    ),
    ("daemon", DAEMON, "file-write-data", "/Volumes/x/TemporaryItems", "deny"),
    ("daemon", DAEMON, "file-write-xattr", "/Users/u/x", "undecidable"),
    ("daemon", DAEMON, "file-map-executable", "/Users/u/x", "deny"),
    ("daemon", DAEMON, "file-read-metadata", "/Library", "allow"),
    ("daemon", DAEMON, "file-read-metadata", "/Users", "deny"),
    ("daemon", DAEMON, "process-info-pidinfo", "self", "allow"),
    ("daemon", DAEMON, "process-info-pidinfo", "others", "deny"),
    ("daemon", DAEMON, "process-exec-interpreter", "/usr/libexec/helper", "allow"),
    ("daemon", DAEMON, "process-exec", "/bin/sh", "deny"),
    ("daemon", DAEMON, "mach-lookup", "com.example.trust", "allow"),
    ("daemon", DAEMON, "mach-lookup", "com.example.card", "undecidable"),
    ("daemon", DAEMON, "mach-lookup", "com.apple.SecurityServer", "deny"),
    ("daemon", DAEMON, "user-preference-write", "org.example.other", "deny"),
    ("daemon", DAEMON, "user-preference-write", "org.example.service", "undecidable"),
    ("daemon", DAEMON, "iokit-open-user-client", "Keyboard", "deny"),
    ("daemon", DAEMON, "nvram-get", "ota-x", "allow"),
    ("daemon", DAEMON, "nvram-set", "ota-x", "deny"),
    ("daemon", DAEMON, "system-mac-syscall", "AMFI:95", "allow"),
    ("daemon", DAEMON, "system-mac-syscall", "Quarantine:95", "deny"),
    ("daemon", DAEMON, "system-fsctl", "26671", "allow"),
    ("daemon", DAEMON, "network-outbound", "/private/var/run/resolver", "allow"),
    ("daemon", DAEMON, "network-outbound", "/private/var/run/old1", "allow"),
    ("daemon", DAEMON, "network-outbound", "192.0.2.1:443", "deny"),
    ("daemon", DAEMON, "network-inbound", "localhost:631", "allow"),
    ("daemon", DAEMON, "syscall-unix", "SYS_open", "allow"),
    ("daemon", DAEMON, "syscall-unix", "SYS_ptrace", "undecidable"),
    ("daemon", DAEMON, "sysctl-read", "kern.example3", "allow"),
    ("daemon", DAEMON, "sysctl-read", "kern.example4", "deny"),
    ("packages", PACKAGES, "network-outbound", "192.0.2.1:443", "deny"),
    ("packages", PACKAGES, "network-outbound", "/private/var/run/syslog", "allow"),
    ("packages", PACKAGES, "network-outbound", "/private/var/packages/socket/1", "allow"),
    ("packages", PACKAGES, "network-outbound", "/private/var/run/docker.sock", "deny"),
    ("packages", LOCAL, "network-outbound", "localhost:443", "allow"),
    ("packages", LOCAL, "network-inbound", "0.0.0.0:80", "allow"),
    ("packages", NETWORK, "network-outbound", "udp:192.0.2.1:53", "allow"),
    ("packages", PACKAGES, "file-write-setugid", "/private/tmp/build/x", "ambiguous"),
    ("packages", PACKAGES, "file-write-data", "/private/tmp/build/x", "allow"),
    ("packages", PACKAGES, "file-write-data", "/opt/extra/x", "deny"),
    ("packages", NETWORK, "file-write-data", "/opt/extra/x", "allow"),
    ("packages", PACKAGES, "process-exec", "/private/var/packages/store/x", "allow"),
    ("packages", PACKAGES, "process-exec", "/bin/ls", "deny"),
    ("packages", PACKAGES, "file-read-metadata", "/private/var/packages", "allow"),
]


@pytest.mark.parametrize("row", ANSWERS, ids=[f"{r[0]} {r[2]} {r[3]}" for r in ANSWERS])
def test_a_question_about_a_profile_is_answered(row: Row) -> None:
    name, params, operation, subject, wanted = row
    profile = opened(PROFILES / f"{name}.sb", params, None, {})
    decision = Decider(profile).decide(operation, subject_of(operation, subject, {}))
    assert decision.outcome.value == wanted, decision.why
