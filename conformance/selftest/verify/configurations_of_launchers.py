"""Configurations with a mistake in a launcher: it copies or shows a secret, or loads a file that a
program inside has made.

Each is written in our own words, after public reports.
"""

from __future__ import annotations

from selftest.verify.configurations import NO_HOME, OPEN, USUAL, row, rule

PLAIN = USUAL.format("")
# Folders and files of the workspace from which editors and agents take the names of programs.
SETTINGS = f"mkdir -p .cursor .codex\n{USUAL}".replace("{}", NO_HOME).replace(
    ' -- "$@"',
    ' --tmpfs "$PWD/.vscode" --tmpfs "$PWD/.claude" --tmpfs "$PWD/.cursor"'
    ' --tmpfs "$PWD/.gemini" --tmpfs "$PWD/.codex" --ro-bind /dev/null "$PWD/.mcp.json"'
    ' --tmpfs "$PWD/.idea" --tmpfs "$PWD/.devcontainer" --tmpfs "$PWD/.zed"'
    ' --ro-bind /dev/null "$PWD/opencode.json" {} -- "$@"',
)
LISTENS = f'{NO_HOME} $([ ! -S "{{0}}" ] || echo "--bind {{0}} {{0}}")'
BOX = """\
box=$(mktemp -d); cp "{}" "$box/a"
bwrap --die-with-parent --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --tmpfs /run \\
  --unshare-all --cap-drop ALL --tmpfs "$HOME" --bind "$PWD" "$PWD" --ro-bind "$box" /mnt -- "$@"
status=$?; rm -r "$box"; exit $status
"""
ENGINE = "$XDG_RUNTIME_DIR/docker.sock"

OF_LAUNCHERS = {
    "a_bus_that_is_shown_if_it_is_a_socket": row(
        "sockets", USUAL, LISTENS.format("$XDG_RUNTIME_DIR/bus"), NO_HOME
    ),
    "an_engine_that_is_shown_if_it_is_a_socket": row(
        "sockets", USUAL, LISTENS.format(ENGINE), NO_HOME
    ),
    "settings_of_an_agent_in_the_workspace": row(
        "tool-settings", SETTINGS, '--bind "$PWD/.cursor" "$PWD/.cursor"', ""
    ),
    "credentials_whose_settings_name_programs": row(
        "tool-settings", SETTINGS, '--bind "$HOME/.aws" "$HOME/.aws"', '--ro-bind "$HOME/.aws" /mnt'
    ),
    "settings_with_secrets_that_are_writable": row(
        "tool-settings", SETTINGS, '--bind "$HOME/.kube" "$HOME/.kube"', ""
    ),
    "caches_that_are_writable": row("caches", USUAL, '--bind "$HOME/.cache" "$HOME/.cache"', ""),
    "local_programs_that_are_writable": row(
        "outside", USUAL, "--bind /usr/local /usr/local", "", only_root=True
    ),
    "a_capability_that_opens_handles": row(
        "ssh-keys",
        OPEN,
        f"--unshare-pid --cap-drop ALL --cap-add CAP_DAC_READ_SEARCH {NO_HOME}",
        f"--unshare-pid --cap-drop ALL {NO_HOME}",
        only_root=True,
    ),
    "a_copy_in_a_folder_of_the_launcher": row(
        "cloud", BOX, "$HOME/.aws/credentials", "/etc/hostname"
    ),
    "a_copy_by_a_descriptor": row(
        "ssh-keys",
        USUAL.format(f"{NO_HOME} --ro-bind-data 7 /run/key").rstrip() + ' 7<"{}"\n',
        "$HOME/.ssh/id_ed25519",
        "/etc/hostname",
    ),
    "a_backup_of_a_hidden_file": rule(
        "deny-read",
        ".env",
        'cp "{}" .backup\n' + USUAL.format('--ro-bind /dev/null "$PWD/.env"'),
        ".env",
        "/etc/hostname",
    ),
    "a_folder_that_is_hidden_only_if_it_exists": rule(
        "deny-read",
        "~/.ssh",
        USUAL,
        '$([ ! -e "$HOME/.ssh" ] || echo "--tmpfs $HOME/.ssh")',
        '--tmpfs "$HOME/.ssh"',
    ),
    "a_folder_of_modules_in_the_workspace": row(
        "planted", "PYTHONPATH=./lib python3 {} -c 'import json'\n" + PLAIN, "", "-I"
    ),
    "a_folder_of_libraries_in_the_workspace": row(
        "planted", "LD_LIBRARY_PATH={} " + PLAIN.removeprefix("exec "), "./lib", "/usr/lib"
    ),
    "variables_of_the_workspace_that_are_exported": row(
        "planted", "{}" + PLAIN, "[ ! -f box.env ] || export $(cat box.env | xargs)\n", ""
    ),
    "settings_of_git_that_the_launcher_uses": row(
        "planted", "{}" + PLAIN, "git status >/dev/null 2>&1\n", "", needs="git"
    ),
    "a_package_of_the_workspace_that_the_launcher_loads": row(
        "planted", "{}" + PLAIN, "node -e 'require(\"a\")' 2>/dev/null\n", "", needs="node"
    ),
    "a_file_of_the_workspace_that_turns_the_sandbox_off": row(
        "planted", "{}" + PLAIN, '[ ! -e ./.nobox ] || exec "$@"\n', ""
    ),
    "options_of_the_workspace_that_the_launcher_takes": row(
        "planted", USUAL.format(f"{NO_HOME} {{}}"), "$(cat .bwraprc 2>/dev/null)", ""
    ),
}
