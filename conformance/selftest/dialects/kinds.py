"""Kinds of mistakes in the settings of other tools, each as an example of our own.

People reported mistakes of these kinds in public.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from boxspec.verify.meaning import Meaning

DEAD, NARROWER, WIDER = Meaning.DEAD, Meaning.NARROWER, Meaning.WIDER
ENFORCED, UNKNOWN, OTHER = Meaning.ENFORCED, Meaning.UNKNOWN, Meaning.NOT_TESTABLE


@dataclass(frozen=True)
class Kind:
    """A kind of mistake: the text of a file with it, and the entry that must name it (value,
    meaning, reason and line).
    """

    tool: str
    text: str
    value: str
    meaning: Meaning
    why: str
    line: int = 1


def claude(deny: str, sandbox: str = '{"enabled": true, "allowUnsandboxedCommands": false}') -> str:
    return f'{{"permissions": {{"deny": [{deny}]}},\n"sandbox": {sandbox}}}'


def srt(**lists: Sequence[object]) -> str:
    needed: dict[str, Sequence[object]] = {"denyRead": [], "allowWrite": [], "denyWrite": []}
    network: dict[str, list[str]] = {"allowedDomains": [], "deniedDomains": []}
    return json.dumps({"network": network, "filesystem": {**needed, **lists}})


KINDS = {
    "a_prefix_that_is_relative_to_another_folder": Kind(
        "claude", claude('"Read(/etc/passwd)"'), "Read(/etc/passwd)", DEAD, "write //etc/passwd"
    ),
    "a_deny_that_only_the_tool_itself_heeds": Kind(
        "claude", claude('"Read(./.env)"', "{}"), "Read(./.env)", OTHER, "a program in Bash"
    ),
    "a_deny_of_a_tool_whose_paths_are_not_compared": Kind(
        "claude", claude('"Write(./.env)"'), "Write(./.env)", DEAD, "write Edit(./.env)"
    ),
    "a_rule_of_the_web_tool_for_all_programs": Kind(
        "claude", claude('"WebFetch(domain:a.org)"'), "WebFetch(domain:a.org)", OTHER, "in Bash"
    ),
    "an_entry_that_is_no_text": Kind(
        "claude", claude('7, "Read(./.env)"'), "7", DEAD, "whole list"
    ),
    "the_entry_beside_one_that_is_no_text": Kind(
        "claude", claude('7, "Read(//etc/hosts)"'), "Read(//etc/hosts)", ENFORCED, "sandbox"
    ),
    "a_denied_file_that_does_not_exist_yet": Kind(
        "claude", claude('"Read(./.env)"'), "Read(./.env)", NARROWER, "nothing is there now"
    ),
    "a_folder_that_the_sandbox_opens_too": Kind(
        "claude",
        '{"sandbox": {"enabled": true},\n"permissions": {"additionalDirectories": ["../x"]}}',
        "../x",
        WIDER,
        "programs in the sandbox",
        2,
    ),
    "a_rule_of_a_file_with_a_comment": Kind(
        "claude",
        "// mine\n" + claude('"Read(//etc/hosts)"'),
        "Read(//etc/hosts)",
        DEAD,
        "not JSON",
        2,
    ),
    "a_variable_that_the_sandbox_removes": Kind(
        "claude",
        '{"sandbox": {"enabled": true, "credentials": {"envVars": [\n'
        '{"name": "GITHUB_TOKEN", "mode": "deny"}]}}}',
        "GITHUB_TOKEN",
        ENFORCED,
        "no program gets it",
        2,
    ),
    "a_variable_without_a_mode": Kind(
        "srt", '{"credentials": {"envVars": [{"name": "A"}]}}', "A", DEAD, "needs a name"
    ),
    "rules_of_a_sandbox_that_is_off": Kind(
        "claude",
        '{"sandbox": {"filesystem":\n{"denyRead": ["~/.ssh"]}}}',
        "~/.ssh",
        DEAD,
        "not true",
        2,
    ),
    "a_command_outside_the_sandbox": Kind(
        "claude", '{"sandbox": {"excludedCommands": ["docker"]}}', "docker", WIDER, "outside"
    ),
    "a_denied_read_that_is_also_a_denied_write": Kind(
        "srt", srt(denyRead=["/etc"], denyWrite=["/etc"]), "/etc", ENFORCED, "made it readable"
    ),
    "a_denied_read_that_is_allowed_again": Kind(
        "srt", srt(denyRead=["/etc"], allowRead=["/etc"]), "/etc", DEAD, "takes precedence"
    ),
    "a_glob_that_is_skipped_on_linux": Kind(
        "srt", srt(denyWrite=["**/*.key"]), "**/*.key", DEAD, "skipped here on Linux"
    ),
    "a_glob_without_the_files_that_come_later": Kind(
        "srt", srt(denyRead=["**/*.key"]), "**/*.key", NARROWER, "later files are not"
    ),
    "a_folder_that_does_not_exist_yet": Kind(
        "srt", srt(denyRead=["secrets/"]), "secrets/", NARROWER, "nothing is there now"
    ),
    "a_write_into_a_hidden_folder": Kind(
        "srt", srt(denyRead=["/etc"], allowWrite=["/"]), "/etc", ENFORCED, "vanishes"
    ),
    "a_socket_that_linux_does_not_filter_by_path": Kind(
        "srt",
        '{"network": {"allowUnixSockets": ["/run/docker.sock"]}}',
        "/run/docker.sock",
        DEAD,
        "ignored on Linux",
    ),
    "a_key_with_a_typing_error": Kind("srt", '{"filesytem": {}}', "{}", UNKNOWN, "no such key"),
    "a_profile_beside_the_older_mode": Kind(
        "codex",
        'sandbox_mode = "read-only"\ndefault_permissions = "mine"\n',
        "mine",
        DEAD,
        "ignored",
        2,
    ),
    "roots_without_their_mode": Kind(
        "codex",
        'sandbox_mode = "read-only"\n[sandbox_workspace_write]\nwritable_roots = ["/srv/x"]\n',
        "/srv/x",
        DEAD,
        "no effect without",
        3,
    ),
    "domains_that_no_proxy_enforces": Kind(
        "codex",
        'default_permissions = "a"\n[permissions.a.network]\nenabled = true\n'
        'domains = {"example.org" = "allow"}\n',
        "example.org = allow",
        DEAD,
        "no proxy",
        4,
    ),
    "a_glob_with_the_older_word_for_deny": Kind(
        "codex",
        'default_permissions = "a"\n[permissions.a.filesystem]\n"/srv/*.env" = "none"\n',
        "/srv/*.env = none",
        NARROWER,
        "later files are not",
        3,
    ),
    "a_mask_that_a_later_mount_covers": Kind(
        "bwrap", "--tmpfs /home/u/.ssh\n--bind /home /home", "/home/u/.ssh", DEAD, "later --bind"
    ),
    "a_read_only_mount_that_is_undone": Kind(
        "bwrap", "--ro-bind /srv/a /srv/a --bind /srv /srv", "/srv/a /srv/a", DEAD, "writable again"
    ),
    "an_option_that_does_not_exist": Kind(
        "bwrap", "--unshare-network\n--unshare-net", "", UNKNOWN, "does not start"
    ),
    "an_exception_before_the_blacklist": Kind(
        "firejail",
        "noblacklist ${HOME}/.ssh\nblacklist ${HOME}/.ssh\n",
        "${HOME}/.ssh",
        DEAD,
        "noblacklist in line 1",
        2,
    ),
    "a_home_directory_of_which_some_is_shown": Kind(
        "firejail", "whitelist ${HOME}/a\n", "${HOME}/a", ENFORCED, "only the paths"
    ),
    "a_table_with_a_typing_error": Kind(
        "gemini",
        '[[rule]]\ndecision = "deny"\npriority = 1\n[[rules]]\na = 1\n',
        "[{'a': 1}]",
        UNKNOWN,
        "no such key",
        4,
    ),
    "an_ignored_command": Kind(
        "firejail", "ignore net\nnet none\n", "none", DEAD, "`ignore net` disables it", 2
    ),
    "a_path_that_is_not_absolute": Kind("firejail", "blacklist .ssh", ".ssh", DEAD, "absolute"),
    "a_deny_before_the_rule_that_matches_all": Kind(
        "opencode",
        '{"permission": {"read": {"*.env": "deny",\n"*": "allow"}}}',
        "*.env: deny",
        DEAD,
        "the last match wins",
    ),
    "a_folder_that_is_denied_without_its_files": Kind(
        "opencode",
        '{"permission": {"read": {"*": "allow", "secrets/": "deny"}}}',
        "secrets/: deny",
        NARROWER,
        "write secrets/*",
    ),
    "a_deny_of_a_lower_priority": Kind(
        "gemini",
        '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "rm"\ndecision = "deny"\n'
        'priority = 10\n[[rule]]\ntoolName = "*"\ndecision = "allow"\npriority = 900\n',
        "toolName = run_shell_command, commandPrefix = rm: deny",
        DEAD,
        "priority 900",
    ),
    "a_variable_that_no_shell_replaces": Kind(
        "srt", srt(denyRead=["$HOME/.ssh"]), "$HOME/.ssh", DEAD, "write ~"
    ),
    "an_address_in_place_of_a_domain": Kind(
        "srt",
        '{"network": {"allowedDomains": ["https://a.org", "a.org"]}}',
        "https://a.org",
        DEAD,
        "is not a domain",
    ),
    "a_rule_of_settings_that_have_a_comment": Kind(
        "srt", "// mine\n" + srt(denyRead=["/etc"]), "/etc", DEAD, "refuses the file for line 1", 2
    ),
    "a_rule_beside_a_domain_that_is_none": Kind(
        "srt",
        srt(denyRead=["/etc"]).replace('"allowedDomains": []', '"allowedDomains": ["*.org"]'),
        "/etc",
        DEAD,
        "refuses the file",
    ),
    "a_rule_beside_an_entry_that_is_no_text": Kind(
        "srt", srt(denyRead=["/etc", 7]), "/etc", DEAD, "refuses the file"
    ),
    "a_rule_of_settings_without_a_needed_list": Kind(
        "srt", '{"filesystem": {"denyRead": ["/etc"]}}', "/etc", DEAD, "refuses the file"
    ),
    "a_needed_list_that_is_missing": Kind(
        "srt", '{"filesystem": {"denyRead": ["/etc"]}}', "(not set)", DEAD, "srt needs it"
    ),
    "a_name_without_a_dot": Kind(
        "srt",
        srt().replace('"allowedDomains": []', '"allowedDomains": ["intranet"]'),
        "intranet",
        DEAD,
        "is not a domain",
    ),
    "a_git_configuration_that_can_be_written": Kind(
        "srt", '{"filesystem": {"allowGitConfig": true}}', "true", WIDER, ".git/config"
    ),
    "a_tool_in_small_letters": Kind(
        "claude", claude('"read(./.env)"'), "read(./.env)", DEAD, "write Read"
    ),
    "a_mode_that_asks_nothing": Kind(
        "claude",
        '{"permissions": {"defaultMode": "bypassPermissions"}}',
        "bypassPermissions",
        WIDER,
        "only deny rules",
    ),
    "a_sandbox_without_rules_of_files": Kind(
        "claude",
        '{"sandbox": {"enabled": true, "filesystem": {"disabled": true}}}',
        "true",
        WIDER,
        "no rule about files",
    ),
    "a_mode_that_the_chosen_profile_replaces": Kind(
        "codex",
        'profile = "ci"\nsandbox_mode = "read-only"\n'
        '[profiles.ci]\nsandbox_mode = "danger-full-access"\n',
        "read-only",
        DEAD,
        "profile ci",
        2,
    ),
    "a_chosen_profile_without_a_sandbox": Kind(
        "codex",
        'profile = "ci"\n[profiles.ci]\nsandbox_mode = "danger-full-access"\n',
        "danger-full-access",
        WIDER,
        "no sandbox",
        3,
    ),
    "a_network_that_is_shared_again": Kind(
        "bwrap", "--unshare-net\n--share-net", "", DEAD, "a later --share-net"
    ),
    "a_mount_that_is_read_only_later": Kind(
        "bwrap", "--bind /srv/a /srv/a --remount-ro /srv/a", "/srv/a /srv/a", DEAD, "--remount-ro"
    ),
    "a_mount_of_the_host_that_is_not_bound": Kind(
        "bwrap", "--bind /srv /srv --remount-ro /proc", "/proc", DEAD, "nothing is mounted"
    ),
    "a_home_directory_that_no_shell_replaces": Kind(
        "bwrap", '["--tmpfs", "~/.ssh"]', "~/.ssh", DEAD, "without a shell"
    ),
    "devices_of_the_host": Kind(
        "bwrap", "--dev-bind /dev /dev", "/dev /dev", WIDER, "devices of the host"
    ),
    "a_capability_that_is_given": Kind(
        "bwrap", "--cap-add CAP_SYS_ADMIN", "CAP_SYS_ADMIN", WIDER, "capability"
    ),
    "a_path_in_quotes": Kind(
        "firejail", 'blacklist "${HOME}/.ssh"', '"${HOME}/.ssh"', DEAD, "quotes"
    ),
    "a_network_that_is_not_closed": Kind("firejail", "net non", "non", WIDER, "none"),
    "an_older_key_that_does_not_count": Kind(
        "gemini", '{"sandbox": true, "tools": {"sandbox": false}}', "true", DEAD, "counts"
    ),
    "a_server_that_is_trusted": Kind(
        "gemini", '{"mcpServers": {"a": {"trust": true}}}', "true", WIDER, "no call of this server"
    ),
    "a_command_that_is_excluded_by_its_spelling": Kind(
        "gemini",
        '{"tools": {"exclude": ["run_shell_command(rm -rf)"]}}',
        "run_shell_command(rm -rf)",
        NARROWER,
        "another spelling",
    ),
}
