"""Configurations with a mistake: rules that are wider than their names, launchers that run words of
the program, and settings of programs at less common places. Each script was written for this test,
after public reports.
"""

from __future__ import annotations

from selftest.verify.configurations import (
    BLOCKED,
    NO_HOME,
    OPEN,
    USUAL,
    Configuration,
    row,
    rule,
)
from selftest.verify.configurations_of_starts import ALL, landlock_wrapper

PLAIN = USUAL.format(NO_HOME)
# The words of bubblewrap in front of the program, for a shell line.
WORDS = PLAIN.removeprefix("exec ").replace('-- "$@"\n', "--")
# The launcher itself has no secret in its environment.
CLEAN = OPEN.replace("bwrap", 'env -i HOME="$HOME" PATH=/usr/bin:/bin bwrap', 1)
HOOKS = '--ro-bind "$PWD/.git/hooks" "$PWD/.git/hooks"'
# The program runs in a copy of the workspace, which is written back at its end.
WRITTEN_BACK = f"""\
copy=$(mktemp -d)
cp -a . "$copy"
{PLAIN.removeprefix("exec ").replace('--bind "$PWD" "$PWD"', '--bind "$copy" "$PWD"').rstrip()}
status=$?
{{}}
cp -a "$copy/." .
rm -rf "$copy"
exit $status
"""
# A filter of system calls that refuses to make sockets of the internet, for the calls of x86-64.
FILTER = """exec /usr/bin/python3 -I -c '
import ctypes, os, struct, sys

libc = ctypes.CDLL(None)
x86_64, allow, refuse = 0xC000003E, 0x7FFF0000, 0x50001
load, equal, answer = 0x20, 0x15, 0x06
steps = [
    (load, 0, 0, 4), (equal, 0, OTHER, x86_64), (load, 0, 0, 0), (equal, 0, 3, 41),
    (load, 0, 0, 16), (equal, 2, 0, 2), (equal, 1, 0, 10), (answer, 0, 0, allow),
    (answer, 0, 0, refuse),
]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in steps))
filter = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code)))
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, filter, 0, 0) == 0
os.execvp(sys.argv[1], sys.argv[1:])
' "$@"
"""

OF_WORDS = {
    "folders_whose_names_begin_like_the_workspace": row(
        "outside",
        f'for each in {{}}; do more="$more --bind $each $each"; done\n{USUAL.format("$more")}',
        '"$PWD"*',
        '"$PWD"',
    ),
    "a_hard_link_of_a_hidden_file": rule(
        "deny-read",
        ".env",
        f"""ln -f {{}} env.txt\n{USUAL.format('--ro-bind /dev/null "$PWD/.env"')}""",
        ".env",
        "/etc/hostname 2>/dev/null || : >",
    ),
    "a_program_that_fails_and_runs_again_outside": row(
        "outside", f"{PLAIN.removeprefix('exec ').rstrip()} {{}}\n", '|| "$@"', "|| exit"
    ),
    "a_program_whose_sandbox_is_said_to_be_missing": row(
        "network",
        f"{PLAIN.removeprefix('exec ')}status=$?\n{{}}exit $status\n",
        '[ $status != 127 ] || exec "$@"\n',
        "",
    ),
    "words_of_the_program_that_a_shell_runs": row(
        "arguments", f'exec sh -c "{WORDS} {{}}\n', '$*"', '\\"\\$@\\"" sh "$@"'
    ),
    "words_of_the_program_that_are_split": Configuration(
        ("--row", "work"), "work", f"exec {WORDS} {{}}\n", "$*", '"$@"', BLOCKED
    ),
    "words_of_the_program_that_are_left_out": Configuration(
        ("--row", "work"), "work", f"exec {WORDS} {{}}\n", '"$1" "$2"', '"$@"', BLOCKED
    ),
    "variables_in_a_log_of_the_launcher": row(
        "environment",
        f'{{}} >box.log\nenv -i HOME="$HOME" PATH=/usr/bin:/bin {WORDS} "$@"\n',
        "env",
        "env -i",
    ),
    "a_folder_of_processes_that_is_left_open": row(
        "environments", f"{{}}{CLEAN.format('--unshare-pid')}", "exec 9</proc\n", ""
    ),
    "a_copy_of_the_workspace_that_is_written_back": row(
        "git-hooks", WRITTEN_BACK, "", 'rm -rf "$copy/.git"'
    ),
    "results_that_are_copied_through_links": row(
        "planted", f"rm -rf results\n[ ! -e out ] || cp -r{{}} out results\n{PLAIN}", "L", "P"
    ),
    "a_folder_that_is_writable_in_a_denied_folder": rule(
        "deny-write",
        ".git",
        f"mkdir -p .git/info\n{USUAL}",
        '--ro-bind "$PWD/.git" "$PWD/.git" --bind "$PWD/.git/info" "$PWD/.git/info"',
        '--ro-bind "$PWD/.git" "$PWD/.git"',
    ),
    "a_folder_that_is_shown_in_a_denied_folder": rule(
        "deny-read",
        "~/.config",
        USUAL,
        '--tmpfs "$HOME/.config" --ro-bind "$HOME/.config/gh" "$HOME/.config/gh"',
        '--tmpfs "$HOME/.config"',
    ),
    "a_read_only_folder_below_a_later_mount": rule(
        "deny-write",
        ".git/hooks",
        USUAL,
        f'{HOOKS} --bind "$PWD" "$PWD"',
        f'--bind "$PWD" "$PWD" --bind "$PWD/.git" "$PWD/.git" {HOOKS}',
    ),
    "processes_of_the_host_in_a_namespace": row(
        "environments", CLEAN, "--unshare-pid --bind /proc /proc", "--unshare-pid"
    ),
    "all_files_with_devices": row(
        "outside",
        "exec bwrap {} / / --dev /dev --proc /proc --unshare-all --cap-drop ALL"
        ' --bind "$PWD" "$PWD" -- "$@"\n',
        "--dev-bind",
        "--ro-bind",
    ),
    "a_branch_that_keeps_the_network": Configuration(
        ("--no-network",),
        "no-network",
        f'case $(basename "$1") in\n  sh | env) net={{}} ;;\n  *) net=--unshare-net ;;\nesac\n'
        f"{OPEN.format('--unshare-pid $net')}",
        "",
        "--unshare-net",
    ),
    "a_network_that_is_closed_for_tcp_only": Configuration(
        ("--row", "network"),
        "network",
        "{}" + landlock_wrapper(ALL, "dict()"),
        "",
        'exec bwrap --ro-bind / / --dev /dev --unshare-net --cap-drop ALL -- "$@"\n',
        landlock=4,
    ),
    "a_filter_for_one_kind_of_calls": Configuration(
        ("--no-network",),
        "no-network",
        FILTER.replace("OTHER", "{}"),
        "5",
        "6",
        machine="x86_64",
    ),
    "plugins_of_a_container_engine": row(
        "start-files",
        USUAL,
        f'{NO_HOME} --bind "$HOME/.docker" "$HOME/.docker"'
        ' --ro-bind "$HOME/.docker/config.json" "$HOME/.docker/config.json"',
        NO_HOME,
    ),
    "programs_that_a_browser_starts": row(
        "start-files",
        USUAL,
        f'{NO_HOME} --bind "$HOME/.mozilla" "$HOME/.mozilla"',
        f'{NO_HOME} --ro-bind "$HOME/.mozilla" "$HOME/.mozilla"',
    ),
    "extensions_of_an_editor": row(
        "tool-settings",
        USUAL,
        f'{NO_HOME} --ro-bind "$PWD" "$PWD" --bind-try "$HOME/.vscode" "$HOME/.vscode"',
        f'{NO_HOME} --ro-bind "$PWD" "$PWD"',
    ),
    "a_token_in_a_cache": row(
        "agent-secrets", USUAL, f'{NO_HOME} --ro-bind "$HOME/.cache" "$HOME/.cache"', NO_HOME
    ),
    "commands_from_a_pipe_of_the_workspace": row(
        "planted",
        "{}" + PLAIN,
        "rm -f .box.pipe; mkfifo .box.pipe\n"
        '(while read -r line <.box.pipe; do sh -c "$line"; done) >/dev/null 2>&1 </dev/null &\n'
        "server=$!; trap 'kill $server; rm -f .box.pipe' EXIT\n",
        "",
    ),
}
