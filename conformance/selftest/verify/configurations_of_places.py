"""Configurations with a mistake: what the next start follows, what a pipe brings, and commands that
start a program in an unusual place or way. Each is written in our own words, after public reports.
"""

from __future__ import annotations

from selftest.verify.configurations import NO_HOME, START, USUAL, WITHOUT_HOME, row, rule

OF_PLACES = {
    "a_workspace_at_another_path": rule(
        "deny-read",
        ".env",
        f'{START} --bind "$PWD" /mnt {{}} --chdir /mnt -- "$@"\n',
        "--unshare-pid",
        '--unshare-pid --cap-drop ALL --tmpfs "$HOME" --ro-bind /dev/null /mnt/.env',
    ),
    "a_command_that_needs_a_terminal": rule(
        "deny-read",
        ".env",
        "[ -t 0 ] && [ -t 1 ] || exit 1\n" + USUAL,
        "",
        '--ro-bind /dev/null "$PWD/.env"',
    ),
    "a_read_only_workspace": row(
        "planted",
        "[ ! -f ./.boxrc ] || . ./.boxrc\n" + USUAL,
        "",
        '--ro-bind "$PWD" "$PWD"',
    ),
    "a_hook_without_shell_and_devices": row(
        "planted",
        '[ ! -f ./.boxrc ] || . ./.boxrc\nexec bwrap --unshare-all --die-with-parent {} -- "$@"\n',
        '--bind "$PWD" "$PWD"',
        '--ro-bind "$PWD" "$PWD"',
    ),
    "a_resolver_beside_a_launcher_that_waits": row(
        "resolver",
        "exec perl -e 'system @ARGV; 1 while wait() > 0' {} \"$@\"\n",
        "env",
        "bwrap --ro-bind / / --dev /dev --unshare-net --",
        only_root=True,
        needs="perl",
    ),
    "a_key_in_a_pipe": row(
        "ssh-keys", f'cat "{{}}" | {WITHOUT_HOME}\n', "$HOME/.ssh/id_ed25519", "/etc/hostname"
    ),
    "a_token_in_a_file_without_a_name": rule(
        "deny-read",
        "~/token",
        f"{WITHOUT_HOME} <<X\n$(cat {{}})\nX\n",
        "$HOME/token",
        "/etc/hostname",
    ),
    "a_control_group_that_is_writable": row(
        "kernel",
        USUAL,
        "--ro-bind /proc/sys /proc/sys --bind /sys/fs/cgroup /sys/fs/cgroup",
        "--ro-bind /proc/sys /proc/sys",
        only_root=True,
    ),
    "a_variable_in_a_pipe": rule(
        "deny-env",
        "MY_TOKEN",
        'token="$MY_TOKEN"\nunset MY_TOKEN\nprintf "%s" "{}" | ' + USUAL.format(""),
        "$token",
        "x",
    ),
    "a_list_of_folders_that_the_launcher_shows": row(
        "planted",
        '{}[ ! -f "$list" ] || for each in $(cat "$list"); do more="--bind $each $each"; done\n'
        f"{USUAL.format(NO_HOME + ' $more')}",
        "list=box.list\n",
        'list="$HOME/.config/box.list"\n',
    ),
    "a_folder_that_becomes_a_link": row(
        "planted",
        f"mkdir -p data\n{USUAL}",
        f'{NO_HOME} --bind "$PWD/data" /mnt',
        f"{NO_HOME} --tmpfs /mnt",
    ),
    "a_file_that_becomes_a_link": row(
        "planted",
        USUAL,
        f'{NO_HOME} --tmpfs /mnt $([ ! -f .npmrc ] || echo "--ro-bind $PWD/.npmrc /mnt/npmrc")',
        f'{NO_HOME} --ro-bind-try "$PWD/.npmrc" "$PWD/.npmrc"',
    ),
}
