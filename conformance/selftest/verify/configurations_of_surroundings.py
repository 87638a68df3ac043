"""Configurations with a mistake: sandboxes that depend on variables of the environment, that are
shared by two commands, or that close one way of several. Each script was written for this test,
after public reports.
"""

from __future__ import annotations

from selftest.verify.configurations import NO_HOME, OPEN, USUAL, Configuration, row, rule
from selftest.verify.configurations_of_starts import ALL, landlock_wrapper
from selftest.verify.configurations_of_words import FILTER

PLAIN = USUAL.format(NO_HOME)
SOCKET = f'{NO_HOME} $([ ! -S "{{0}}" ] || echo "--bind {{0}} {{0}}")'
PROXY = "http://127.0.0.1:9"
PROXIES = " ".join(f"--setenv {name}_proxy {PROXY}" for name in ("http", "https", "all", "no"))
BWRAP = 'exec bwrap --ro-bind / / --dev /dev --proc /proc --unshare-all --cap-drop ALL -- "$@"\n'
# Later commands enter the namespaces of the first one, which a sleeping process keeps.
SHARED = """\
unshare --pid --fork sleep 20 >/dev/null 2>&1 </dev/null &
until first=$(cat /proc/$!/task/$!/children) && [ -n "$first" ]; do sleep 0.01; done
exec nsenter --pid="/proc/${first% }/ns/pid" -- "$@"
"""

OF_SURROUNDINGS = {
    "a_sandbox_that_is_off_in_a_build": row(
        "network", f"{{}}{PLAIN}", '[ -z "$CI" ] || exec "$@"\n', ""
    ),
    "a_sandbox_that_is_off_without_a_kind_of_terminal": rule(
        "deny-read", "~/.ssh", f"{{}}{PLAIN}", '[ -n "$TERM" ] || exec "$@"\n', ""
    ),
    "a_display_that_turns_the_sandbox_on": row(
        "ssh-keys", f"{{}}{PLAIN}", '[ -n "$WAYLAND_DISPLAY$DISPLAY" ] || exec "$@"\n', ""
    ),
    "a_token_of_the_project_beside_that_of_the_user": rule(
        "deny-read",
        ".npmrc",
        USUAL,
        '--ro-bind /dev/null "$HOME/.npmrc"',
        '--ro-bind /dev/null "$HOME/.npmrc" --ro-bind /dev/null "$PWD/.npmrc"',
    ),
    "one_file_of_a_folder_of_clusters": rule(
        "deny-read",
        "~/.kube",
        USUAL,
        '--ro-bind /dev/null "$HOME/.kube/config"',
        '--tmpfs "$HOME/.kube"',
    ),
    "an_agent_of_gpg_in_the_home_directory": row(
        "sockets", USUAL, SOCKET.format("$HOME/.gnupg/S.gpg-agent"), NO_HOME
    ),
    "a_browser_beside_the_hidden_one": row(
        "browsers",
        USUAL,
        f'{NO_HOME} --ro-bind "$HOME/.config" "$HOME/.config"'
        ' --tmpfs "$HOME/.config/google-chrome"',
        NO_HOME,
    ),
    "a_history_of_another_shell": row(
        "history",
        USUAL,
        f'{NO_HOME} --ro-bind "$HOME/.local" "$HOME/.local"',
        f'{NO_HOME} --ro-bind "$HOME/.local" "$HOME/.local" --tmpfs "$HOME/.local/share"'
        ' --tmpfs "$HOME/.local/state"',
    ),
    "services_of_the_user_that_are_writable": row(
        "start-files",
        f'mkdir -p "$HOME/.config/systemd/user"\n{USUAL}',
        f'{NO_HOME} --bind "$HOME/.config/systemd" "$HOME/.config/systemd"',
        NO_HOME,
    ),
    "a_socket_of_a_compositor": row(
        "sockets", USUAL, SOCKET.format("$XDG_RUNTIME_DIR/wayland-0"), NO_HOME
    ),
    "a_filter_for_one_family_of_addresses": Configuration(
        ("--no-network",),
        "no-network",
        FILTER.replace("OTHER", "6").replace("(equal, 1, 0, 10)", "(equal, 1, 0, {})"),
        "2",
        "10",
    ),
    "a_network_that_only_variables_close": Configuration(
        ("--no-network",),
        "no-network",
        OPEN,
        f"--unshare-pid {PROXIES}",
        f"--unshare-pid --unshare-net {PROXIES}",
    ),
    "namespaces_that_two_commands_share": row(
        "leftovers", "{}", SHARED, OPEN.format("--unshare-pid"), only_root=True
    ),
    "a_limit_that_the_kernel_ignores": rule(
        "limit",
        "memory=256M",
        f"ulimit {{}}\n{USUAL.format('')}",
        "-m 262144",
        "-v 262144",
    ),
    "sockets_without_a_path": row(
        "sockets",
        OPEN,
        f"--unshare-pid {NO_HOME}",
        f"--unshare-pid --unshare-net {NO_HOME}",
    ),
    "memory_that_programs_of_the_host_share": row(
        "objects", OPEN, "--unshare-pid", "--unshare-pid --unshare-ipc"
    ),
    "modes_that_landlock_leaves_open": Configuration(
        ("--row", "metadata"),
        "metadata",
        "{}" + landlock_wrapper(ALL, "dict()"),
        "",
        BWRAP,
        landlock=4,
    ),
    "a_capability_that_reads_files_of_other_users": row(
        "other-users", OPEN, "--unshare-pid", "--unshare-pid --cap-drop ALL", only_root=True
    ),
    "devices_of_the_host": Configuration(
        ("--row", "kernel"),
        "kernel",
        USUAL,
        "--ro-bind /proc/sys /proc/sys --dev-bind /dev /dev",
        "--ro-bind /proc/sys /proc/sys",
        only_root=True,
        disk=True,
    ),
}
