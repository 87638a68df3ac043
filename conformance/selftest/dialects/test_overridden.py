"""Tests of settings that have no effect, or less, because other settings turn them off."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from boxspec.verify.dialects import dialects
from boxspec.verify.meaning import Meaning, Where

WHERE = Where(Path("/nowhere/home"), Path("/nowhere/home/project"), Path("/nowhere/s.json"))
DEAD, NARROWER, WIDER = Meaning.DEAD, Meaning.NARROWER, Meaning.WIDER
ENFORCED, OTHER = Meaning.ENFORCED, Meaning.NOT_TESTABLE


def claude(sandbox: str = "", deny: str = "", permissions: str = "") -> str:
    more = f", {sandbox}" if sandbox else ""
    other = f", {permissions}" if permissions else ""
    return f'{{"permissions": {{"deny": [{deny}]{other}}}, "sandbox": {{"enabled": true{more}}}}}'


def chain(child: str, parent: str = "base") -> str:
    return (
        f'default_permissions = "child"\n[permissions.base.filesystem]\n"~/.ssh" = "deny"\n'
        f'[permissions.child]\nextends = "{parent}"\n[permissions.child.filesystem]\n{child}\n'
    )


def rules(*found: dict[str, object]) -> str:
    lines = [[f"{name} = {json.dumps(each[name])}" for name in each] for each in found]
    return "".join("[[rule]]\n" + "\n".join(each) + "\n" for each in lines)


SHELL = {"toolName": "run_shell_command", "commandPrefix": "rm", "decision": "deny", "priority": 1}
TWO = {"toolName": ["write_file", "replace"], "decision": "deny", "priority": 10}
FILES = '"filesystem": {"denyRead": ["//etc"]}'
OUTSIDE = '"blockReadsOutsideWorkingDirectories": true'
ROOTS = '"." = "write"\n[permissions.child.filesystem.":workspace_roots"]\n'


def v2(*found: tuple[str, str, str]) -> str:
    fields = ("action", "resource", "effect")
    return json.dumps({"permissions": [dict(zip(fields, each, strict=True)) for each in found]})


@pytest.mark.parametrize(
    ("tool", "text", "value", "meaning", "why"),
    [
        ("claude", claude(f'{FILES}, "enabledPlatforms": ["macos"]'), "//etc", DEAD, "lacks linux"),
        ("claude", claude(f'{FILES}, "enabledPlatforms": ["linux"]'), "//etc", ENFORCED, "reads"),
        ("claude", claude('"enabledPlatforms": ["wsl"]'), '["wsl"]', WIDER, "without linux"),
        (
            *("claude", claude('"filesystem": {"disabled": true, "denyRead": ["//etc"]}')),
            *("//etc", DEAD, "disabled is true"),
        ),
        (
            *("claude", claude('"filesystem": {"disabled": true}', '"Read(//etc/hosts)"')),
            *("Read(//etc/hosts)", OTHER, "only the file tools obey it"),
        ),
        ("claude", claude(permissions=OUTSIDE), "true", ENFORCED, "hides home directories"),
        ("claude", '{"permissions": {' + OUTSIDE + "}}", "true", OTHER, "in Bash can read all"),
        (
            *("claude", claude('"network": {"strictAllowlist": true}'), "true", OTHER),
            "without a question",
        ),
        (
            *("claude", '{"sandbox": {"enabled": true, "enabled": false}}', "true", DEAD),
            "repeated in line 1",
        ),
        ("codex", chain('"~/x" = "read"'), "~/.ssh = deny", ENFORCED, "for each program"),
        ("codex", chain('"~/.ssh" = "read"'), "~/.ssh = deny", DEAD, "extends this one"),
        ("codex", chain('"~/x" = "read"', "gone"), "gone", DEAD, "no such profile"),
        ("codex", chain(f'{ROOTS}"../x" = "deny"'), "../x = deny", DEAD, "cannot leave it"),
        ("codex", chain(f'{ROOTS}"x..y" = "deny"'), "x..y = deny", ENFORCED, "deny for each"),
        ("firejail", "private\nwhitelist ${HOME}/x\n", "${HOME}/x", DEAD, "`private` in line 1"),
        (
            *("firejail", "read-only ${HOME}\nread-write ${HOME}/x\n", "${HOME}", NARROWER),
            "read-write in line 2",
        ),
        (
            *("firejail", "read-write ${HOME}/x\nread-only ${HOME}\n", "${HOME}/x", DEAD),
            "read-only in line 2",
        ),
        ("firejail", "writable-etc\n", "", WIDER, "root can change /etc"),
        (
            *("opencode", v2(("read", "*.env", "deny"), ("*", "*", "allow")), "read *.env: deny"),
            *(DEAD, "later * *"),
        ),
        (
            *("opencode", v2(("*", "*", "allow"), ("read", "*.env", "deny")), "read *.env: deny"),
            *(OTHER, "its own tools"),
        ),
        ("opencode", v2(("read", "x", "block")), "read x: block", DEAD, "is not one of"),
        ("opencode", '{"permissions": {"edit": "deny"}}', '{"edit": "deny"}', DEAD, "not a list"),
        ("gemini", rules({**SHELL, "priority": 1000}, TWO), "", DEAD, "skips the whole file"),
        ("gemini", rules({**SHELL, "toolName": "glob"}), "", DEAD, "only for toolName"),
        ("gemini", rules({**TWO, "modes": ["plan"]}), "", NARROWER, "counts only with modes"),
        (
            *("gemini", rules(TWO, {"toolName": "replace", "decision": "allow", "priority": 20})),
            *("", NARROWER, "for some of it"),
        ),
        (
            *("gemini", rules(TWO, {"toolName": "*", "decision": "allow", "priority": 20})),
            *("", DEAD, "for all of it"),
        ),
        (
            "gemini",
            rules(
                {"mcpName": "s", "decision": "deny", "priority": 1},
                {"decision": "allow", "priority": 2},
            ),
            *("", DEAD, "for all of it"),
        ),
        (
            "gemini",
            rules(TWO) + '[[safety_checker]]\n[safety_checker.checker]\nname = "a"\n',
            *("a", OTHER, "its own tools"),
        ),
    ],
)
def test_a_setting_that_another_one_turns_off_is_named(
    tool: str, text: str, value: str, meaning: Meaning, why: str
) -> None:
    """value: the value of the entry; empty for any entry."""
    where = WHERE if tool != "gemini" else Where(WHERE.home, WHERE.cwd, Path("/nowhere/p.toml"))
    entries = [each for each in dialects()[tool].read(text, where) if value in ("", each.value)]
    assert any(each.meaning is meaning and why in each.why for each in entries), entries
