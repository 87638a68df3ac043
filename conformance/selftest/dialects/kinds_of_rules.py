"""Kinds of mistakes in rules of OpenCode, Gemini CLI, firejail, Codex, as examples of our own."""

from __future__ import annotations

import json

from selftest.dialects.kinds import DEAD, ENFORCED, NARROWER, OTHER, UNKNOWN, WIDER, Kind


def rules(*found: tuple[str, str, str]) -> str:
    """Return a list of rules of OpenCode 2."""
    fields = ("action", "resource", "effect")
    made = [dict(zip(fields, each, strict=True)) for each in found]
    return json.dumps({"permissions": made})


def policy(*found: str) -> str:
    """Return a policy of Gemini CLI: rules without their first lines."""
    return "".join(f"[[rule]]\n{each}\n" for each in found)


SHELL = 'toolName = "run_shell_command"\n'
DENY, ALLOW = 'decision = "deny"\npriority = 10', 'decision = "allow"\npriority = 20'

OF_RULES = {
    "an_action_that_version_2_has_renamed": Kind(
        "opencode", rules(("bash", "rm *", "deny")), "bash rm *: deny", DEAD, "write shell"
    ),
    "an_action_of_agents_that_version_2_has_renamed": Kind(
        "opencode", rules(("task", "*", "deny")), "task *: deny", DEAD, "write subagent"
    ),
    "an_action_of_edits_in_version_2": Kind(
        "opencode", rules(("write", ".env", "deny")), "write .env: deny", DEAD, "write edit"
    ),
    "an_action_that_is_misspelled": Kind(
        "opencode", rules(("reed", "*.env", "deny")), "reed *.env: deny", UNKNOWN, "no such"
    ),
    "a_deny_that_an_agent_allows": Kind(
        "opencode",
        '{"permission": {"read": {"*.env": "deny"}},\n'
        '"agent": {"build": {"permission": {"read": "allow"}}}}',
        "*.env: deny",
        NARROWER,
        "agent.build",
    ),
    "a_wrong_type_for_which_codex_starts_nothing": Kind(
        "codex",
        'sandbox_mode = "read-only"\n[shell_environment_policy]\nexclude = "A*"\n',
        "read-only",
        DEAD,
        "exclude in line 3",
    ),
    "a_text_in_place_of_a_list": Kind(
        "codex",
        'sandbox_mode = "workspace-write"\n[sandbox_workspace_write]\nwritable_roots = "/x"\n',
        "/x",
        DEAD,
        "starts no program",
        3,
    ),
    "a_type_of_another_part_of_the_file": Kind(
        "codex", 'model = 5\nsandbox_mode = "read-only"\n', "read-only", DEAD, "model", 2
    ),
    "a_mode_that_does_not_exist": Kind(
        "gemini",
        policy(f'{SHELL}{DENY}\nmodes = ["auto_edit"]'),
        "toolName = run_shell_command: deny",
        DEAD,
        "autoEdit",
    ),
    "an_empty_list_of_modes": Kind(
        "gemini",
        policy(f"{SHELL}{DENY}\nmodes = []"),
        "toolName = run_shell_command: deny",
        OTHER,
        "",
    ),
    "an_anchor_that_stands_before_the_arguments": Kind(
        "gemini",
        policy(f'{SHELL}{DENY}\ncommandRegex = "^rm "'),
        "toolName = run_shell_command, commandRegex = ^rm : deny",
        DEAD,
        "without ^",
    ),
    "a_list_of_commands_of_which_one_is_allowed": Kind(
        "gemini",
        policy(
            f'{SHELL}{DENY}\ncommandPrefix = ["git push", "rm"]',
            f'{SHELL}{ALLOW}\ncommandPrefix = ["git"]',
        ),
        "toolName = run_shell_command, commandPrefix = ['git push', 'rm']: deny",
        NARROWER,
        "says allow",
    ),
    "a_pattern_of_tools": Kind(
        "gemini",
        policy(f'toolName = "write_*"\n{DENY}'),
        "toolName = write_*: deny",
        DEAD,
        "only of MCP",
    ),
    "a_name_in_a_list_of_tools": Kind(
        "gemini",
        policy(f'toolName = ["WriteFile", "replace"]\n{DENY}'),
        "toolName = ['WriteFile', 'replace']: deny",
        NARROWER,
        "write_file",
    ),
    "an_exception_by_a_pattern": Kind(
        "firejail",
        "noblacklist ${HOME}/.s*\nblacklist ${HOME}/.ssh\n",
        "${HOME}/.ssh",
        DEAD,
        "noblacklist in line 1",
        2,
    ),
    "a_new_home_directory_with_copied_secrets": Kind(
        "firejail", "private-home .ssh,.bashrc\n", ".ssh,.bashrc", WIDER, ".ssh is copied"
    ),
    "another_home_directory": Kind(
        "firejail", "private ${HOME}/box\n", "${HOME}/box", ENFORCED, "in its place"
    ),
    "no_sockets_but_local_ones": Kind("firejail", "protocol unix\n", "unix", ENFORCED, "no TCP"),
}
