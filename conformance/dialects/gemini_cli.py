"""Gemini CLI: settings.json, and policy files in TOML.

Written for Gemini CLI 0.2x to 0.4x, from its documentation "Configuration" and "Policy engine" (as
of 2026-11). A policy decides for calls of tools: the matching rule of the highest priority counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from boxspec.verify.meaning import Entry, Meaning, Where
from dialects.entries import NO_SUCH_KEY, document, noted, texts, unknown
from dialects.merging import File, read_together
from dialects.reading_json import Node, Pairs
from dialects.reading_toml import line_of, shown, tables

NAMES = ("gemini", "gemini-cli")
WRITTEN_FOR = "Gemini CLI 0.2x to 0.4x, 2026-11"
DECISIONS = ("allow", "deny", "ask_user")
_FIELDS = """toolName mcpName argsPattern commandPrefix commandRegex decision priority modes
    subagent deny_message denyMessage toolAnnotations interactive allow_redirection allowRedirection
    name description"""
FIELDS = frozenset(_FIELDS.split())
_SETTINGS = """$schema policyPaths adminPolicyPaths general output ui ide privacy billing model
    modelConfigs agents context contextManagement tools mcp useWriteTodos security advanced
    experimental skills hooksConfig hooks admin mcpServers telemetry extensions sandbox
    excludeTools coreTools allowedTools"""
_TOOLS = """sandbox sandboxAllowedPaths sandboxNetworkAccess shell core allowed exclude
    confirmationRequired discoveryCommand callCommand useRipgrep truncateToolOutputThreshold
    truncateToolOutputLines enableToolOutputTruncation disableLLMCorrection autoAccept
    enableHooks"""
_SERVER = """command args env cwd url httpUrl headers tcp type timeout trust description
    includeTools excludeTools extensionName oauth authProviderType targetAudience
    targetServiceAccount"""
# Keys of a group, with the meaning of each.
NOTES = {
    "tools": {
        "sandboxAllowedPaths": (Meaning.WIDER, "these paths can be used in the sandbox"),
        "sandboxNetworkAccess": (Meaning.WIDER, "the sandbox has the network"),
        "autoAccept": (Meaning.WIDER, "calls that only read are not asked about"),
    },
    "general": {"defaultApprovalMode": (Meaning.NOT_TESTABLE, "which calls are asked about")},
    "context": {"includeDirectories": (Meaning.WIDER, "the file tools may use these folders too")},
    "security": {
        "environmentVariableRedaction": (
            Meaning.NOT_TESTABLE,
            "the variables that Gemini CLI itself gives to programs",
        ),
        "folderTrust": (
            Meaning.NOT_TESTABLE,
            "Gemini CLI asks before it uses settings of a folder",
        ),
        "disableYoloMode": (Meaning.NOT_TESTABLE, "Gemini CLI itself decides"),
        "toolSandboxing": (Meaning.NOT_TESTABLE, "verify the command that Gemini CLI starts"),
    },
}
OLDER_LISTS = ("excludeTools", "coreTools", "allowedTools")
OLDER = "tools.sandbox is set too, and counts"
KINDS = ("docker", "podman", "sandbox-exec", "runsc", "lxc", "windows-native", "")
TOOLS = "Gemini CLI decides for its own tools; programs of a shell command do not obey it"
_NAMES = """run_shell_command read_file read_many_files write_file replace glob grep_search
    search_file_content list_directory web_fetch google_web_search save_memory write_todos
    ShellTool ReadFileTool ReadManyFilesTool WriteFileTool EditTool GlobTool GrepTool LSTool
    WebFetchTool WebSearchTool MemoryTool"""
TOOL_NAMES = tuple(_NAMES.split())
# Names that other agents give to the same tools.
OTHER_NAMES = {
    **dict.fromkeys(("Shell", "Bash", "shell", "bash"), "run_shell_command"),
    **{"Read": "read_file", "Write": "write_file", "Edit": "replace", "Grep": "grep_search"},
    **{"LS": "list_directory", "WebFetch": "web_fetch", "WebSearch": "google_web_search"},
}
NO_DECISION = f"the decision is not one of {', '.join(DECISIONS)}"
NO_PRIORITY = "the priority is not a number from 0 to 999"
# Errors for which Gemini CLI skips the whole file.
WRONG = (NO_DECISION, NO_PRIORITY)
SHELL = "run_shell_command"
CONDITIONS = ("modes", "subagent", "interactive")
MODES = ("default", "autoEdit", "plan", "yolo")
NO_MODE = f"no mode has this name: write one of {', '.join(MODES)}"
AT_THE_START = 'it is compared after {"command":", so nothing matches: write it without ^'
ONLY_MCP = "a * in a name is known only of MCP tools: write each name"
# Lists of all files that Gemini CLI joins. Of any other list, that of the highest rank counts.
JOINED = (
    *("tools.exclude", "excludeTools", "advanced.excludedEnvVars", "context.includeDirectories"),
    *("policyPaths", "adminPolicyPaths", "context.fileFiltering.customIgnoreFilePaths"),
)
SYSTEM_FOLDER = "gemini-cli"
FIRST = ("toolName", "mcpName", "commandPrefix", "commandRegex", "argsPattern")


def read(text: str, where: Where) -> list[Entry]:
    if _is_policy(text, where):
        return _policy(text)
    found = document(text)
    return [found] if isinstance(found, Entry) else list(_settings(found))


def rank(where: Where) -> int:
    """Return the rank of a file: settings of the system, the workspace, the user, and defaults of
    the system."""
    if where.file.name == "system-defaults.json":
        return 0
    if where.file.parent.name == SYSTEM_FOLDER:
        return 3
    return 1 if where.is_of_the_user else 2


def read_all(files: Sequence[tuple[str, Where]]) -> list[list[Entry]]:
    """Return the entries of each file. A policy file counts for itself."""
    made = [File(text, where, rank(where)) for text, where in files]
    settings = [each for each in made if not _is_policy(each.text, each.where)]
    broken = next((each for each in settings if each.node is None), None)
    off = f"{broken.where.file.name} is not JSON: Gemini CLI does not start" if broken else ""
    found = []
    for each in made:
        others = [other for other in settings if other is not each and other.node is not None]
        if each not in settings or each.node is None:
            entries = read(each.text, each.where)
        else:
            entries = read_together(each, others, lambda node, _: [*_settings(node)], _joins)
        if broken is not None and each is not broken:
            entries = [replace(entry, meaning=Meaning.DEAD, why=off) for entry in entries]
        found.append(entries)
    return found


def _joins(key: str, is_list: bool) -> bool:
    """True if the values of several files are joined. A server counts as a whole."""
    return key in JOINED if is_list else not re.fullmatch(r"mcpServers\.[^.]*", key)


def _is_policy(text: str, where: Where) -> bool:
    return where.file.suffix == ".toml" or text.lstrip().startswith("[[")


def _settings(node: Node) -> Iterator[Entry]:
    yield from unknown(node, _SETTINGS.split())
    tools = node.get("tools")
    yield from unknown(tools, _TOOLS.split(), "tools") if tools else ()
    sandbox, older = tools.get("sandbox") if tools else None, node.get("sandbox")
    if sandbox is not None:
        yield _sandbox(sandbox, "tools.sandbox")
    if older is not None:
        entry = _sandbox(older, "sandbox")
        yield replace(entry, meaning=Meaning.DEAD, why=OLDER) if sandbox else entry
    for group, notes in NOTES.items():
        yield from noted(node.get(group), notes, group)
    servers = node.get("mcpServers")
    for name, server in servers.members if servers else []:
        yield from _server(server, f"mcpServers.{name}")
    for group, names in (("tools", ("exclude", "core", "allowed")), ("", OLDER_LISTS)):
        holder = node.get(group) if group else node
        for name in names:
            key = f"{group}.{name}".lstrip(".")
            good, wrong = texts(holder.get(name) if holder else None, key)
            yield from wrong
            for each in good:
                yield _tool(each, key)
    advanced = node.get("advanced")
    if advanced is not None:
        key = "advanced.excludedEnvVars"
        good, wrong = texts(advanced.get("excludedEnvVars"), key)
        yield from wrong
        why = "is not taken from a .env of the project; variables of your shell are given"
        for each in good:
            yield Entry(each.line, key, each.value, Meaning.NOT_TESTABLE, why)


def _server(node: Node, key: str) -> Iterator[Entry]:
    if not isinstance(node.value, Pairs):
        yield Entry(node.line, key, node.shown, Meaning.DEAD, "is not an object")
    yield from unknown(node, _SERVER.split(), key)
    trust = {"trust": (Meaning.WIDER, "no call of this server is asked about")}
    yield from noted(node, trust, key)


def _sandbox(node: Node, key: str) -> Entry:
    value = node.value
    if value is False:
        why = "no program is confined"
        return Entry(node.line, key, node.shown, Meaning.WIDER, why)
    if value is True or (isinstance(value, str) and value in KINDS):
        why = "Gemini CLI itself runs in the sandbox: verify the container that it starts"
        return Entry(node.line, key, node.shown, Meaning.NOT_TESTABLE, why)
    if isinstance(value, str) and "/" not in value:
        why = f"is no sandbox that Gemini CLI knows: write true, false or {', '.join(KINDS[:-1])}"
        return Entry(node.line, key, node.shown, Meaning.DEAD, why)
    if isinstance(value, str) or node.members:
        why = "a command or an object; Gemini CLI itself runs in it"
        return Entry(node.line, key, node.shown, Meaning.NOT_TESTABLE, why)
    return Entry(node.line, key, node.shown, Meaning.DEAD, "is neither a truth value nor a text")


def _tool(node: Node, key: str) -> Entry:
    value = node.value
    if better := _better_name(value.partition("(")[0]):
        return Entry(node.line, key, value, Meaning.DEAD, better)
    if "xclude" in key and re.fullmatch(r"(run_shell_command|ShellTool)\(.*\)", value, re.S):
        why = "the start of the command is compared; another spelling of it is not excluded"
        return Entry(node.line, key, value, Meaning.NARROWER, why)
    return Entry(node.line, key, value, Meaning.NOT_TESTABLE, TOOLS)


def _better_name(name: object) -> str:
    """Return why no tool has this name, if it resembles that of a tool; else ""."""
    if not isinstance(name, str) or name in TOOL_NAMES:
        return ""
    plain = name.lower().replace("_", "")
    found = [each for each in TOOL_NAMES if each.lower().replace("_", "") == plain]
    right = [*found, *([OTHER_NAMES[name]] if name in OTHER_NAMES else [])]
    return f"no tool has this name: write {right[0]}" if right else ""


def _policy(text: str) -> list[Entry]:
    found = tables(text)
    if isinstance(found, Entry):
        return [found]
    made = [
        Entry(line_of(text, name), name, shown(value), Meaning.UNKNOWN, NO_SUCH_KEY)
        for name, value in found.items()
        if name not in ("rule", "safety_checker")
    ]
    rules = found.get("rule", [])
    if not isinstance(rules, list):
        return [
            *made,
            Entry(1, "rule", shown(rules), Meaning.DEAD, "is not a list: write [[rule]]"),
        ]
    starts = [n for n, line in enumerate(text.splitlines(), 1) if line.strip() == "[[rule]]"]
    good: list[Mapping[str, Any]] = [each for each in rules if isinstance(each, Mapping)]
    for number, rule in enumerate(rules):
        line = starts[number] if number < len(starts) else 1
        if not isinstance(rule, Mapping):
            made.append(Entry(line, "rule", shown(rule), Meaning.DEAD, "is not a table"))
            continue
        names = [name for name in rule if name not in FIELDS]
        why = "the documentation names no such field"
        made += [
            Entry(line, f"rule.{name}", shown(rule[name]), Meaning.UNKNOWN, why) for name in names
        ]
        made.append(_rule(rule, good, line))
    wrong = next((each for each in made if each.why in WRONG), None)
    if wrong is not None:
        why = f"Gemini CLI skips the whole file for line {wrong.line}"
        made = [
            each if each.why in WRONG else replace(each, meaning=Meaning.DEAD, why=why)
            for each in made
        ]
    return made + _checkers(text, found.get("safety_checker", []))


def _checkers(text: str, checkers: object) -> list[Entry]:
    """Return an entry for each safety checker, which looks at calls before they are made."""
    made = []
    for checker in checkers if isinstance(checkers, list) else [checkers]:
        what = checker.get("checker") if isinstance(checker, Mapping) else None
        name = what.get("name") if isinstance(what, Mapping) else checker
        line = line_of(text, "safety_checker", str(name))
        made.append(Entry(line, "safety_checker", shown(name), Meaning.NOT_TESTABLE, TOOLS))
    return made


def _rule(rule: Mapping[str, Any], rules: list[Mapping[str, Any]], line: int) -> Entry:
    what = (
        ", ".join(f"{name} = {shown(rule[name])}" for name in FIRST if name in rule) or "any tool"
    )
    value = f"{what}: {shown(rule.get('decision', '(no decision)'))}"

    def made(meaning: Meaning, why: str) -> Entry:
        return Entry(line, "rule", value, meaning, why)

    if rule.get("decision") not in DECISIONS:
        return made(Meaning.DEAD, NO_DECISION)
    if not _is_priority(rule.get("priority")):
        return made(Meaning.DEAD, NO_PRIORITY)
    names = rule["toolName"] if isinstance(rule.get("toolName"), list) else [rule.get("toolName")]
    wrong = [why for each in names if (why := _wrong_name(rule, each))]
    if wrong and len(wrong) == len(names):
        return made(Meaning.DEAD, wrong[0])
    modes = rule.get("modes") or MODES
    if isinstance(modes, list) and not {*map(str, modes)} & {*MODES}:
        return made(Meaning.DEAD, NO_MODE)
    if str(rule.get("commandRegex", "")).startswith("^"):
        return made(Meaning.DEAD, AT_THE_START)
    for name in ("commandRegex", "argsPattern"):
        try:
            re.compile(str(rule.get(name, "")))
        except (re.error, RecursionError, OverflowError):
            return made(Meaning.DEAD, f"{name} is not a regular expression")
    of_commands = [name for name in ("commandPrefix", "commandRegex") if name in rule]
    if len(of_commands) == 2:
        return made(Meaning.DEAD, "commandPrefix and commandRegex exclude each other")
    if of_commands and rule.get("toolName") != SHELL:
        return made(Meaning.DEAD, f"{of_commands[0]} is only for toolName = {SHELL}")
    if of_commands and "argsPattern" in rule:
        return made(Meaning.DEAD, f"{of_commands[0]} and argsPattern exclude each other")
    for meaning, part, tools in (
        (Meaning.DEAD, "all of it", _tools(rule)),
        (Meaning.NARROWER, "some of it", None),
    ):
        over = [each for each in rules if each is not rule and _wins(each, rule, tools)]
        if over:
            why = f"a rule of priority {over[0]['priority']} says {over[0]['decision']} for {part}"
            return made(meaning, why)
    if wrong:
        return made(Meaning.NARROWER, wrong[0])
    only = [f"{name} = {shown(rule[name])}" for name in _conditions(rule)]
    if only and rule["decision"] == "deny":
        return made(Meaning.NARROWER, f"counts only with {', '.join(only)}")
    return made(Meaning.NOT_TESTABLE, TOOLS)


def _wrong_name(rule: Mapping[str, Any], name: object) -> str:
    """Return why no tool has this name, or ""."""
    if "mcpName" in rule or not isinstance(name, str):
        return ""
    if "*" in name and name != "*" and not name.startswith("mcp_"):
        return ONLY_MCP
    return _better_name(name)


def _conditions(rule: Mapping[str, Any]) -> list[str]:
    """Return the names of the conditions of a rule. An empty list of modes is no condition."""
    return [name for name in CONDITIONS if name in rule and rule[name] != []]


def _texts(rule: Mapping[str, Any], name: str) -> list[str]:
    value = rule.get(name)
    return [
        each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)
    ]


def _is_priority(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 999


def _tools(rule: Mapping[str, Any]) -> frozenset[str]:
    tools = rule.get("toolName", "*")
    return frozenset(map(str, tools)) if isinstance(tools, list) else frozenset({str(tools)})


def _wins(other: Mapping[str, Any], rule: Mapping[str, Any], tools: frozenset[str] | None) -> bool:
    """True if another rule matches all calls of these tools, decides otherwise, and comes first.

    tools: tools of the rule; None for at least one of them.
    """
    priority = other.get("priority")
    if not _is_priority(priority) or priority <= rule["priority"]:
        return False
    if other.get("decision") not in DECISIONS or other["decision"] == rule["decision"]:
        return False
    if _conditions(other):
        return False
    theirs = _tools(other)
    matches = theirs & _tools(rule) if tools is None else tools <= theirs
    if not (matches or "*" in theirs):
        return False
    # Without mcpName, * means the tools of all servers too.
    every_server = "*" in theirs and "mcpName" not in other
    if other.get("mcpName") != rule.get("mcpName") and not every_server:
        return False
    if "commandPrefix" in other:
        theirs_first, mine = _texts(other, "commandPrefix"), _texts(rule, "commandPrefix")
        won = [any(each.startswith(first) for first in theirs_first) for each in mine]
        return any(won) if tools is None else bool(won) and all(won)
    return not any(name in other for name in ("commandRegex", "argsPattern"))
