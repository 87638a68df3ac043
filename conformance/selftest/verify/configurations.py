"""Configurations with one mistake each, and the same configurations without the mistake.

The mistakes are kinds that people reported in public, in our own words, as scripts around
bubblewrap. `{}` in a body stands for the mistake or its correction.
"""

from __future__ import annotations

from dataclasses import dataclass

START = (
    "exec bwrap --die-with-parent --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --tmpfs /run"
)
USUAL = f'{START} --unshare-all --new-session --cap-drop ALL --bind "$PWD" "$PWD" {{}} -- "$@"\n'
# A script without the namespaces and options of USUAL, for mistakes that leave an option out.
OPEN = f'{START} --bind "$PWD" "$PWD" {{}} -- "$@"\n'
LEAKED, BLOCKED = "LEAKED", "blocked too much"
LATER_FILES = """$(find "$PWD" -name '*.pem' | sed 's/.*/--ro-bind \\/dev\\/null &/')"""
# A SOCKS proxy that allows *.example.org, and connects to the part before a null byte.
PROXY = """exec /usr/bin/python3 -I -c '
import os, socket, subprocess, sys, threading

def serve(client):
    client.recv(client.recv(2)[1])
    client.sendall(bytes([5, 0]))
    head = client.recv(5)
    rest = client.recv(head[4] + 2)
    name, port = rest[:-2], int.from_bytes(rest[-2:], "big")
    if name.endswith(b".example.org"){}:
        to = name.split(bytes(1))[0].decode()
        with socket.create_connection((to, port), 2) as target:
            client.sendall(bytes([5, 0, 0, 1]) + bytes(6))
            target.sendall(client.recv(64))
    client.close()

def accept():
    while True:
        threading.Thread(target=serve, args=listener.accept()[:1], daemon=True).start()

listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=accept, daemon=True).start()
os.environ["ALL_PROXY"] = f"socks5h://127.0.0.1:{listener.getsockname()[1]}"
words = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--unshare-pid", "--cap-drop", "ALL"]
sys.exit(subprocess.run([*words, "--bind", os.getcwd(), os.getcwd(), *sys.argv[1:]]).returncode)
' "$@"
"""
GIT = '--bind "$PWD/.git" "$PWD/.git"'
NO_HOME = '--tmpfs "$HOME" --bind "$PWD" "$PWD"'
# The launcher's redirections can be added.
WITHOUT_HOME = USUAL.format(NO_HOME).rstrip()
SECRETIVE = "'TOKEN\\|SECRET\\|KEY\\|PASSWORD\\|CREDENTIAL'"
SETTINGS = """\
mkdir -p "$HOME/.config/box"
[ ! -r "${XDG_CONFIG_HOME:-$HOME/.config}/box/config" ] || . "$HOME/.config/box/config"
"""
HOOKS = '--ro-bind "$PWD/.git/hooks" "$PWD/.git/hooks"'


@dataclass(frozen=True)
class Configuration:
    """One mistake.

    asked: the words of `verify`.
    row: the row that names the mistake.
    body, wrong, right: the script, with the mistake and without it.
    only_root: True if other users lack the privilege for it.
    needs: a program of the host that the script starts; "" for programs that are always there.
    landlock: the lowest version of Landlock that the script needs; 0 if it needs none.
    folder: a folder of the system in which the kit must be able to make a file; "" for none.
    disk: True if the caller must be able to open the disk of the root.
    machine: the only kind of processor for which the script is written; "" for any.
    """

    asked: tuple[str, ...]
    row: str
    body: str
    wrong: str
    right: str
    status: str = LEAKED
    only_root: bool = False
    needs: str = ""
    landlock: int = 0
    folder: str = ""
    disk: bool = False
    machine: str = ""


def rule(option: str, value: str, body: str, wrong: str, right: str) -> Configuration:
    return Configuration((f"--{option}", value), f"{option}:{value}", body, wrong, right)


def row(
    name: str, body: str, wrong: str, right: str, only_root: bool = False, needs: str = ""
) -> Configuration:
    asked = ("--row", name)
    return Configuration(asked, name, body, wrong, right, only_root=only_root, needs=needs)


CONFIGURATIONS = {
    "a_mask_below_a_later_mount": rule(
        "deny-read",
        "~/.ssh",
        USUAL,
        '--tmpfs "$HOME/.ssh" --ro-bind "$HOME" "$HOME" --bind "$PWD" "$PWD"',
        '--ro-bind "$HOME" "$HOME" --bind "$PWD" "$PWD" --tmpfs "$HOME/.ssh"',
    ),
    "a_mask_of_another_home_directory": rule(
        "deny-read", "~/.aws/", USUAL, "--tmpfs /tmp/.aws", '--tmpfs "$HOME/.aws"'
    ),
    "a_second_place_for_the_home_directory": rule(
        "deny-read",
        "~/.ssh",
        USUAL,
        f'{NO_HOME} --ro-bind "$HOME" /mnt',
        NO_HOME,
    ),
    "a_second_place_that_can_be_written": rule(
        "deny-write", "~/.bashrc", USUAL, '--bind "$HOME" /mnt', ""
    ),
    "a_glob_of_the_files_at_the_start": rule(
        "deny-read",
        "secrets/*.pem",
        "mkdir -p secrets\n" + USUAL,
        LATER_FILES,
        '--tmpfs "$PWD/secrets"',
    ),
    "a_file_that_is_hidden_only_if_it_exists": rule(
        "deny-read",
        ".env",
        USUAL,
        '$([ ! -e .env ] || echo "--ro-bind /dev/null $PWD/.env")',
        '--ro-bind /dev/null "$PWD/.env"',
    ),
    "a_file_that_is_read_only_and_readable": rule(
        "deny-read",
        "token",
        USUAL,
        '--ro-bind-try "$PWD/token" "$PWD/token"',
        '--ro-bind /dev/null "$PWD/token"',
    ),
    "hooks_that_can_be_written": rule("deny-write", ".git/hooks", USUAL, "", f"{GIT} {HOOKS}"),
    "hooks_whose_folder_can_be_moved": rule(
        "deny-write", ".git/hooks", USUAL, HOOKS, f"{GIT} {HOOKS}"
    ),
    "the_whole_home_directory_is_writable": rule(
        "deny-write", "~/.bashrc", USUAL, '--bind "$HOME" "$HOME"', ""
    ),
    "a_name_that_can_be_made": rule(
        "deny-write",
        ".mcp.json",
        USUAL,
        '$([ ! -e .mcp.json ] || echo "--ro-bind $PWD/.mcp.json $PWD/.mcp.json")',
        '--ro-bind /dev/null "$PWD/.mcp.json"',
    ),
    "an_output_folder_that_is_read_only": Configuration(
        ("--allow-write", "build/"),
        "allow-write:build/",
        "mkdir -p build\n" + USUAL,
        '--ro-bind "$PWD/build" "$PWD/build"',
        "",
        BLOCKED,
    ),
    "no_temporary_folder": Configuration(
        ("--row", "work"), "work", USUAL, "--remount-ro /tmp", "", BLOCKED
    ),
    "the_network_of_the_host": Configuration(
        ("--no-network",), "no-network", OPEN, "--unshare-pid", "--unshare-pid --unshare-net"
    ),
    "a_resolver_of_the_host": row(
        "resolver", OPEN, "--unshare-pid", "--unshare-pid --unshare-net", only_root=True
    ),
    # Without /etc/resolv.conf the resolver asks 127.0.0.1, where nobody answers.
    "a_resolver_without_settings": row(
        "resolver",
        OPEN,
        "--tmpfs /etc --unshare-pid",
        "--tmpfs /etc --unshare-net",
        only_root=True,
    ),
    "a_network_that_is_shared_again": Configuration(
        ("--no-network",), "no-network", USUAL, "--share-net", ""
    ),
    "a_variable_that_is_passed_on": rule(
        "deny-env", "MY_TOKEN", "{}" + USUAL.format(""), "", "unset MY_TOKEN\n"
    ),
    # The init process of bubblewrap keeps the variable in /proc/1/environ.
    "a_variable_in_the_environment_of_the_launcher": rule(
        "deny-env",
        "MY_TOKEN",
        "{}",
        USUAL.format("--unsetenv MY_TOKEN"),
        "unset MY_TOKEN\n" + USUAL.format(""),
    ),
    "sockets_of_the_home_directory": row(
        "sockets", USUAL, "", '--tmpfs "$HOME" --bind "$PWD" "$PWD"'
    ),
    "processes_of_the_host": row(
        "processes", OPEN, "--unshare-net", "--unshare-pid --cap-drop ALL"
    ),
    "a_program_that_lives_on": row("leftovers", OPEN, "--unshare-net", "--unshare-pid"),
    "a_terminal_that_takes_input": row(
        "terminal", OPEN, "--unshare-pid", "--unshare-pid --new-session --cap-drop ALL"
    ),
    "a_capability_that_mounts": row(
        "outside", OPEN, "--unshare-pid", "--unshare-pid --cap-drop ALL", only_root=True
    ),
    "a_mask_of_the_home_directory_that_is_unmounted": row(
        "ssh-keys",
        OPEN,
        f"--unshare-pid {NO_HOME}",
        f"--unshare-pid {NO_HOME} --cap-drop ALL",
        only_root=True,
    ),
    "a_root_directory_of_another_process": row(
        "ssh-keys",
        OPEN,
        f"--cap-drop ALL --cap-add CAP_SYS_PTRACE {NO_HOME}",
        f"--cap-drop ALL --cap-add CAP_SYS_PTRACE --unshare-pid {NO_HOME}",
        only_root=True,
    ),
    "settings_of_the_kernel_that_are_writable": row(
        "kernel",
        OPEN,
        "--cap-drop ALL",
        "--cap-drop ALL --ro-bind /proc/sys /proc/sys",
        only_root=True,
    ),
    "files_of_the_kernel_that_are_writable": row(
        "kernel",
        OPEN,
        "--cap-drop ALL --ro-bind /proc/sys /proc/sys --bind /sys /sys",
        "--cap-drop ALL --ro-bind /proc/sys /proc/sys",
        only_root=True,
    ),
    "a_folder_of_the_system_that_is_writable": row(
        "outside", USUAL, "--bind /var/lib /var/lib", "", only_root=True
    ),
    "another_temporary_folder_of_the_host": row("temporary", USUAL, "--bind /var/tmp /var/tmp", ""),
    "a_helper_that_is_left": row("remains", "{}" + USUAL.format(""), "sleep 60 & \n", ""),
    "a_null_byte_in_the_name_for_a_proxy": Configuration(
        ("--row", "proxies", "--row", "outside"), "proxies", PROXY, "", " and bytes(1) not in name"
    ),
    "a_temporary_folder_of_the_host": row("temporary", USUAL, "--bind /tmp /tmp", ""),
    "an_agent_whose_socket_is_bound": row(
        "sockets", USUAL, f'{NO_HOME} --bind-try "$SSH_AUTH_SOCK" "$SSH_AUTH_SOCK"', NO_HOME
    ),
    "a_folder_of_programs_that_is_writable": row(
        "start-files",
        USUAL,
        f'{NO_HOME} --bind-try "$HOME/.cargo" "$HOME/.cargo"',
        f'{NO_HOME} --bind-try "$HOME/.cargo/registry" "$HOME/.cargo/registry"',
    ),
    "other_projects_that_are_writable": row(
        "outside", USUAL, '--bind "$PWD/.." "$PWD/.." --bind "$PWD" "$PWD"', ""
    ),
    "a_list_of_patterns_of_variables": row(
        "environment",
        "exec env -i {}" + USUAL.format("").removeprefix("exec"),
        f"PATH=/usr/bin:/bin $(env | grep -v {SECRETIVE} | grep '^[A-Z_]*=[^ ]*$')",
        "PATH=/usr/bin:/bin",
    ),
    "a_descriptor_that_is_left_open": rule(
        "deny-read", "~/.ssh", "{}" + USUAL.format(NO_HOME), 'exec 9<"$HOME"\n', ""
    ),
    "a_key_that_is_left_open": row(
        "ssh-keys", f'exec 7<"$HOME/.ssh/id_ed25519"\n{WITHOUT_HOME} {{}}\n', "", "7<&-"
    ),
    "a_key_as_standard_input": row(
        "ssh-keys", f"{WITHOUT_HOME} {{}}\n", '<"$HOME/.ssh/id_ed25519"', ""
    ),
    "a_start_file_that_is_left_open_for_writing": row(
        "start-files", f'exec 8<>"$HOME/.bashrc"\n{WITHOUT_HOME} {{}}\n', "", "8>&-"
    ),
    "a_denied_file_that_is_left_open": rule(
        "deny-read", "~/token", f'exec 7<"$HOME/token"\n{WITHOUT_HOME} {{}}\n', "", "7<&-"
    ),
    "a_file_of_a_denied_folder_that_is_left_open": rule(
        "deny-read", "~/.ssh", f'exec 7<"$HOME/.ssh/id_ed25519"\n{WITHOUT_HOME} {{}}\n', "", "7<&-"
    ),
    "a_denied_file_that_is_left_open_for_writing": rule(
        "deny-write", "~/.bashrc", f'exec 8<>"$HOME/.bashrc"\n{WITHOUT_HOME} {{}}\n', "", "8>&-"
    ),
    "a_key_in_a_variable": row(
        "ssh-keys",
        'export KEY="$(cat "{}")"\n' + USUAL.format(NO_HOME),
        "$HOME/.ssh/id_ed25519",
        "/etc/hostname",
    ),
    "a_token_in_the_arguments_of_the_launcher": row(
        "environments",
        USUAL.replace("bwrap", "env -i PATH=/usr/bin:/bin bwrap"),
        '--setenv A "$GITHUB_TOKEN" --unsetenv A',
        '--setenv A "$HOME" --unsetenv A',
    ),
    "a_socket_of_an_agent_at_another_path": row(
        "sockets",
        USUAL.replace("{}", f"{NO_HOME} --setenv SSH_AUTH_SOCK /tmp/agent {{}}"),
        '--bind "$SSH_AUTH_SOCK" /tmp/agent',
        "",
    ),
    "a_file_without_permissions_only": rule(
        "deny-read",
        "token",
        "touch token\n{}" + USUAL.format('$([ "$(stat -c %a token)" = 0 ] || echo "$mask")'),
        "chmod 000 token\n",
        'mask="--ro-bind /dev/null $PWD/token"\n',
    ),
    "a_settings_file_of_the_workspace_that_is_sourced": row(
        "planted", "{}" + USUAL.format(""), "[ ! -f ./.boxrc ] || . ./.boxrc\n", ""
    ),
    "a_settings_file_of_the_home_directory_that_is_sourced": row(
        "planted",
        SETTINGS + USUAL,
        '--bind "$HOME/.config" "$HOME/.config"',
        '--ro-bind "$HOME/.config" "$HOME/.config"',
    ),
    "a_makefile_of_the_workspace_that_is_read": row(
        "planted",
        "{}" + USUAL.format(""),
        "[ ! -f Makefile ] || make -s -n >/dev/null 2>&1\n",
        "",
        needs="make",
    ),
    "a_perl_script_of_the_workspace_that_is_run": row(
        "planted", "{}" + USUAL.format(""), "[ ! -f a.pl ] || perl a.pl\n", "", needs="perl"
    ),
    "a_settings_file_in_tmp_that_is_sourced": row(
        "planted",
        "[ ! -r /tmp/a-box.env ] || . /tmp/a-box.env\n" + USUAL,
        '--bind /tmp /tmp --bind "$PWD" "$PWD"',
        "",
    ),
    "a_program_of_the_workspace_that_the_launcher_runs": row(
        "planted", "{}" + USUAL.format(""), "[ ! -x ./hook ] || ./hook\n", ""
    ),
    "variables_of_the_workspace_that_are_sourced": row(
        "planted", ". ./.env\n" + USUAL, "", '--ro-bind "$PWD/.env" "$PWD/.env"'
    ),
    "a_folder_of_scripts_that_the_launcher_runs": row(
        "planted",
        'for each in ./box.d/*; do [ ! -f "$each" ] || . "$each"; done\n' + USUAL,
        "",
        '--tmpfs "$PWD/box.d"',
    ),
    "a_module_in_the_workspace_that_the_launcher_imports": row(
        "planted", "python3 {} -c 'import json'\n" + USUAL.format(""), "", "-I"
    ),
    # The first file stops the launcher, so the second file needs a start without the first.
    "a_script_that_runs_if_another_file_is_missing": row(
        "planted",
        "[ ! -e stop ] || exit 3\n{}" + USUAL.format(""),
        "[ ! -f ./.boxrc ] || . ./.boxrc\n",
        "",
    ),
    "a_limit_that_a_program_can_raise": rule(
        "limit", "open-files=64", "{}" + USUAL.format(""), "ulimit -S -n 64\n", "ulimit -n 64\n"
    ),
    "a_limit_that_is_missing": rule(
        "limit", "open-files=64", "{}" + USUAL.format(""), "", "ulimit -n 64\n"
    ),
    "a_limit_that_is_too_high": rule(
        "limit", "file-size=1M", "ulimit -f {}\n" + USUAL.format(""), "4096", "1024"
    ),
}
