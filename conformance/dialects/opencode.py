"""OpenCode: `permission` of opencode.json, and `permissions` of version 2.

Written for OpenCode 1.1 and 2, from its documentation "Permissions" (as of 2026-11). OpenCode
itself decides for its own tools, and the last rule that matches wins. No program is confined.
"""

from __future__ import annotations

import re
from dataclasses import replace

from boxspec.verify.meaning import Entry, Meaning, Where
from dialects.entries import document, unknown
from dialects.reading_json import Node, Pairs

NAMES = ("opencode",)
WRITTEN_FOR = "OpenCode 1.1 to 2, 2026-11"
_TOOLS = """* read edit write patch glob grep list bash task skill lsp webfetch websearch codesearch
    external_directory doom_loop todowrite todoread question"""
TOOLS = frozenset(_TOOLS.split())
_SETTINGS = """$schema agent attachment autoshare autoupdate command compaction default_agent
    disabled_providers enabled_providers enterprise experimental formatter instructions keybinds
    layout logLevel lsp mcp mode model permission permissions plugin provider server share shell
    skills small_model snapshot theme tools tui username watcher"""
# The fields of a rule of version 2.
FIELDS = ("action", "resource", "effect")
ACTIONS = ("allow", "ask", "deny")
# Actions of version 1 that have another name in version 2.
RENAMED = {"bash": "shell", "task": "subagent"}
NO_ACTION = f"is not one of {', '.join(ACTIONS)}"
# The patterns of these tools are paths.
OF_PATHS = {"read", "edit", "write", "patch", "glob", "grep", "list", "external_directory"}
# Tools whose calls are asked as edit.
EDITS = ("write", "patch", "multiedit", "apply_patch")
AS_EDIT = "edit decides for this tool, and a rule with its own name has no effect: write edit"
NO_DOT = "paths are compared without ./, so it matches nothing: write */{}"
ONLY_A_TEXT = "matches only this text and no path below it: write {}*"
ONLY_TOOLS = "OpenCode decides for its own tools; programs that bash starts are not confined"


def read(text: str, where: Where) -> list[Entry]:
    found = document(text)
    if isinstance(found, Entry):
        return [found]
    made = [*unknown(found, _SETTINGS.split())]
    made += [
        _unless_allowed(each, found) for each in _permission(found.get("permission"), "permission")
    ]
    made += _list(found.get("permissions"), "permissions")
    for group in ("agent", "mode"):
        agents = found.get(group)
        for name, agent in agents.members if agents else []:
            made += _permission(agent.get("permission"), f"{group}.{name}.permission")
            made += _list(agent.get("permissions"), f"{group}.{name}.permissions")
    old = found.get("tools")
    if old is not None:
        why = "an older form, which is still read; write it as permission"
        made.append(Entry(old.line, "tools", old.shown, Meaning.NOT_TESTABLE, why))
    return made


def _permission(node: Node | None, key: str) -> list[Entry]:
    if node is None:
        return []
    if isinstance(node.value, str):
        return [_action(node, key, node.value)]
    if not isinstance(node.value, Pairs):
        return [Entry(node.line, key, node.shown, Meaning.DEAD, "is neither a word nor an object")]
    made: list[Entry] = []
    members = node.members
    for number, (tool, value) in enumerate(members):
        path = f"{key}.{tool}"
        if tool in EDITS:
            made.append(Entry(value.line, path, value.shown, Meaning.DEAD, AS_EDIT))
        elif tool not in TOOLS and not tool.startswith("mcp") and "_" not in tool:
            why = "the documentation names no such tool"
            made.append(Entry(value.line, path, value.shown, Meaning.UNKNOWN, why))
        elif isinstance(value.value, str):
            entry = _action(value, path, value.value)
            over = [name for name, _ in members[number + 1 :] if name == "*" != tool]
            if over and value.value == "deny" and entry.meaning is not Meaning.DEAD:
                why = "the later * matches too, and the last match wins"
                entry = Entry(value.line, path, value.value, Meaning.DEAD, why)
            made.append(entry)
        elif isinstance(value.value, Pairs):
            made += _patterns(value, path)
        else:
            made.append(Entry(value.line, path, value.shown, Meaning.DEAD, NO_ACTION))
    return made


def _unless_allowed(entry: Entry, found: Node) -> Entry:
    """Return the entry, and name an agent whose rules allow it. Rules of an agent come last."""
    tool = entry.key.rpartition(".")[2]
    if not entry.value.endswith("deny") or entry.meaning is Meaning.DEAD:
        return entry
    for group in ("agent", "mode"):
        agents = found.get(group)
        for name, agent in agents.members if agents else []:
            permission = agent.get("permission")
            own = permission.get(tool) or permission.get("*") if permission else None
            own = own or permission
            action = _word(own.get("*")) if own and isinstance(own.value, Pairs) else ""
            action = action or _word(own)
            if action in ("allow", "ask"):
                why = f"{group}.{name} says {action} for all of it, and the rules of an agent win"
                return replace(entry, meaning=Meaning.NARROWER, why=why)
    return entry


def _word(node: Node | None) -> str:
    return node.value if node is not None and isinstance(node.value, str) else ""


def _list(node: Node | None, key: str) -> list[Entry]:
    """Return the entries of a list of rules, the form of version 2."""
    if node is None:
        return []
    if not isinstance(node.value, list):
        why = "is not a list of rules; version 1 writes permission"
        return [Entry(node.line, key, node.shown, Meaning.DEAD, why)]
    made: list[Entry] = []
    rules = [tuple(_word(each.get(name)) for name in FIELDS) for each in node.value]
    for number, (each, rule) in enumerate(zip(node.value, rules, strict=True)):
        if "" in rule:
            why = f"a rule has three texts: {', '.join(FIELDS)}"
            made.append(Entry(each.line, key, each.shown, Meaning.DEAD, why))
            continue
        action, resource, effect = rule
        entry = _of_action(_action(each, key, effect, f"{action} {resource}"), action)
        over = [
            later
            for later in rules[number + 1 :]
            if "" not in later
            and later[2] != effect
            and _contains(later[0], action)
            and _contains(later[1], resource)
        ]
        if over and entry.meaning is not Meaning.DEAD:
            why = (
                f"the later {over[-1][0]} {over[-1][1]} matches all of it, and the last match wins"
            )
            entry = Entry(each.line, key, entry.value, Meaning.DEAD, why)
        made.append(entry)
    return made


def _of_action(entry: Entry, action: str) -> Entry:
    """Return the entry. If version 2 does not know the action, name this reason."""
    if entry.meaning is Meaning.DEAD:
        return entry
    if action in EDITS:
        return replace(entry, meaning=Meaning.DEAD, why=AS_EDIT)
    if action in RENAMED:
        why = f"version 2 has another name for this action: write {RENAMED[action]}"
        return replace(entry, meaning=Meaning.DEAD, why=why)
    known = {*TOOLS, *RENAMED.values()}
    if action not in known and not {"*", "?", "_"} & {*action} and not action.startswith("mcp"):
        why = "the documentation names no such action"
        return replace(entry, meaning=Meaning.UNKNOWN, why=why)
    return entry


def _action(node: Node, key: str, action: str, pattern: str = "") -> Entry:
    value = f"{pattern}: {action}" if pattern else action
    if action not in ACTIONS:
        return Entry(node.line, key, value, Meaning.DEAD, NO_ACTION)
    return Entry(node.line, key, value, Meaning.NOT_TESTABLE, ONLY_TOOLS)


def _patterns(node: Node, key: str) -> list[Entry]:
    made: list[Entry] = []
    members = node.members
    for number, (pattern, value) in enumerate(members):
        if not isinstance(value.value, str):
            made.append(Entry(value.line, key, value.shown, Meaning.DEAD, NO_ACTION))
            continue
        entry = _action(value, key, value.value, pattern)
        if pattern.endswith("/") and key.rpartition(".")[2] in OF_PATHS:
            why = ONLY_A_TEXT.format(pattern)
            entry = Entry(value.line, key, entry.value, Meaning.NARROWER, why)
        if pattern.startswith("./") and key.rpartition(".")[2] in OF_PATHS:
            why = NO_DOT.format(pattern.removeprefix("./") or "*")
            entry = Entry(value.line, key, entry.value, Meaning.DEAD, why)
        over = [
            later
            for later, other in members[number + 1 :]
            if _contains(later, pattern) and other.value != value.value
        ]
        if over and entry.meaning is not Meaning.DEAD:
            why = f"the later {over[-1]} matches all of it, and the last match wins"
            entry = Entry(value.line, key, entry.value, Meaning.DEAD, why)
        made.append(entry)
    return made


def _contains(wide: str, narrow: str) -> bool:
    """True if a pattern matches all that another one matches; `*` matches any text."""
    wanted = "".join(
        ".*" if each == "*" else "." if each == "?" else re.escape(each) for each in wide
    )
    plain = "?" not in narrow or "*" in wide
    return plain and re.fullmatch(wanted, narrow.replace("*", "\0"), re.S) is not None
