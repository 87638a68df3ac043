"""Configurations with a mistake: secrets, sockets and settings at less common places, and launchers
that take commands or words from files of the workspace. Each script was written for this test,
after public reports.
"""

from __future__ import annotations

from dataclasses import replace

from selftest.verify.configurations import NO_HOME, USUAL, row

PLAIN = USUAL.format(NO_HOME)
GIT = (
    '--bind "$PWD/.git" "$PWD/.git" --ro-bind "$PWD/.git/hooks" "$PWD/.git/hooks"'
    ' --ro-bind "$PWD/.git/config" "$PWD/.git/config"'
)
MODULES = '--ro-bind "$PWD/.git/modules" "$PWD/.git/modules"'
# git reads this file only if it exists; `.` names the folder .git itself.
COMMON = '--ro-bind "$PWD/.git/commondir" "$PWD/.git/commondir"'
IN_GIT = f"mkdir -p .git/modules\necho . >.git/commondir\n{USUAL.format(f'{NO_HOME} {GIT} {{}}')}"
SOCKET = '$([ ! -S "$HOME/{0}" ] || echo "--bind $HOME/{0} $HOME/{0}")'
OF_AGENTS = " ".join(
    f'--ro-bind "$PWD/{name}" "$PWD/{name}"'
    for name in (".vscode", ".claude", ".cursor", ".gemini", ".codex", ".devcontainer", ".zed")
)
# A launcher that asks an agent, and starts the program as its child.
AGENT = """exec /usr/bin/python3 -I -c '
import os, socket, sys

agent = socket.socket(socket.AF_UNIX)
agent.connect(os.environ["SSH_AUTH_SOCK"])
{}
words = "--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --tmpfs /run --unshare-all".split()
home, here = os.environ["HOME"], os.getcwd()
words += ["--cap-drop", "ALL", "--tmpfs", home, "--bind", here, here, "--", *sys.argv[1:]]
os.execvp("bwrap", ["bwrap", *words])
' "$@"
"""
HOOK_IN_JSON = """\
file="{}"
[ -e "$file" ] || echo '{"hook": ":"}' >"$file"
sh -c "$(/usr/bin/python3 -I -c 'import json, sys; print(json.load(open(sys.argv[1]))["hook"])' \\
  "$file")"
"""

OF_SECRETS = {
    "credentials_of_a_single_sign_on": row(
        "cloud", USUAL, f'{NO_HOME} --ro-bind "$HOME/.aws/sso" "$HOME/.aws/sso"', NO_HOME
    ),
    "variables_of_the_workspace_for_one_machine": row(
        "env-variants",
        USUAL,
        "",
        "$(find . -name '.env*' -type f | sed \"s|^[.]|--ro-bind /dev/null $PWD|\")",
    ),
    "hooks_of_a_submodule": row(
        "git-redirects",
        IN_GIT,
        COMMON,
        f"{COMMON} {MODULES}",
    ),
    # The correction makes the file, so that no program inside can make it.
    "a_file_that_leads_git_to_other_settings": row(
        "git-redirects",
        f"mkdir -p .git/modules\n{{}}{USUAL.format(f'{NO_HOME} {GIT} {MODULES} $more')}",
        "",
        'echo . >.git/commondir\nmore="--ro-bind $PWD/.git/commondir $PWD/.git/commondir"\n',
    ),
    "an_engine_whose_socket_is_in_the_home_directory": row(
        "sockets", USUAL, f"{NO_HOME} {SOCKET.format('.docker/run/docker.sock')}", NO_HOME
    ),
    "a_display_that_the_environment_names": row(
        "sockets",
        USUAL,
        f"{NO_HOME} ${{DISPLAY:+--bind-try /tmp/.X11-unix /tmp/.X11-unix}}",
        NO_HOME,
    ),
    "a_connection_to_an_agent_that_is_left_open": row(
        "sockets", AGENT, "agent.set_inheritable(True)", "pass"
    ),
    "shared_memory_that_can_be_read": row("temporary", USUAL, "--ro-bind /dev/shm /dev/shm", ""),
    "a_folder_of_tasks_of_the_system": replace(
        row("outside", USUAL, "--bind /etc/cron.d /etc/cron.d", "", only_root=True),
        folder="/etc/cron.d",
    ),
    "a_password_in_a_variable_without_a_pattern": row(
        "environment",
        "exec env -i {}" + PLAIN.removeprefix("exec"),
        'PATH=/usr/bin:/bin HOME="$HOME" MYSQL_PWD="$MYSQL_PWD"',
        'PATH=/usr/bin:/bin HOME="$HOME"',
    ),
    "start_files_of_an_interpreter": row(
        "start-files", USUAL, f'{NO_HOME} --bind "$HOME/.ipython" "$HOME/.ipython"', NO_HOME
    ),
    "settings_of_another_editor": row(
        "tool-settings",
        f"mkdir -p .cursor .codex\n{USUAL}",
        f'{NO_HOME} {OF_AGENTS} --ro-bind /dev/null "$PWD/.mcp.json"'
        ' --ro-bind /dev/null "$PWD/opencode.json"',
        f'{NO_HOME} --ro-bind "$PWD" "$PWD"',
    ),
    "a_command_in_json_of_the_workspace": row(
        "planted", HOOK_IN_JSON + PLAIN, "box.json", "$HOME/box.json"
    ),
    "words_of_the_launcher_in_a_file_of_the_workspace": row(
        "planted",
        'file="{}"\n[ -e "$file" ] || : >"$file"\n'
        f"""{USUAL.format(f"{NO_HOME} --args 9").rstrip()} 9<"$file"\n""",
        ".box.args",
        "$HOME/.box.args",
    ),
}
