"""Turn forms into clauses: the supported part of Scheme, and `allow` and `deny`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from contracts.sbpl.seatbelt import filters
from contracts.sbpl.seatbelt.filters import Filter
from contracts.sbpl.seatbelt.operations import known
from contracts.sbpl.seatbelt.reader import (
    Constant,
    List,
    Node,
    String,
    Symbol,
    Undecidable,
    Unreadable,
    read,
)
from contracts.sbpl.seatbelt.regexes import Purse

CLAUSES = 20_000
VALUE_BYTES = 65_536
IMPORTED = 8
# These change the report and not the decision. `no-sandbox` is about execution, which is always
# undecidable here.
MODIFIERS = frozenset({"message", "no-report", "report", "no-sandbox", "send-signal"})

Value = bytes | int | bool
Names = dict[str, Value]


@dataclass(frozen=True, eq=False)
class Clause:
    """`allow` or `deny`; without a filter for every subject; several filters are alternatives."""

    allow: bool
    operations: tuple[str, ...]
    filter: Filter | None
    form: List

    @property
    def line(self) -> int:
        return self.form.line

    def __str__(self) -> str:
        return str(self.form)


@dataclass(eq=False)
class Profile:
    """The content of a text, in its order."""

    forms: list[Node]
    clauses: list[Clause] = field(default_factory=list)
    purse: Purse = field(default_factory=Purse)


def load(
    text: bytes,
    params: Mapping[str, bytes] | None = None,
    imports: Mapping[str, bytes] | None = None,
) -> Profile:
    """Read a text as sandbox-exec does; `imports` has the files that it may import."""
    forms = read(text)
    first = forms[0] if forms else None
    if not isinstance(first, List) or first.head != "version":
        raise Unreadable(first.line if first else 1, "a profile begins with (version 1)")
    profile = Profile(forms)
    Loader(profile, params or {}, imports or {}).all(forms, {})
    return profile


class Loader:
    def __init__(
        self, profile: Profile, params: Mapping[str, bytes], imports: Mapping[str, bytes]
    ) -> None:
        self.profile, self.params, self.imports = profile, params, imports
        self.importing = 0

    def all(self, forms: Sequence[Node], names: Names) -> None:
        for form in forms:
            self.form(form, names)

    def form(self, form: Node, names: Names) -> None:
        if not isinstance(form, List) or not form.head:
            raise Undecidable(form.line, f"{str(form)[:80]} by itself")
        head, arguments = form.head, form.items[1:]
        if head in ("allow", "deny"):
            self.clause(form, names)
        elif head == "version":
            if [str(each) for each in arguments] != ["1"]:
                raise Unreadable(form.line, f"{form} is not known, only (version 1)")
        elif head == "debug":
            pass
        elif head == "import":
            self.include(form, names)
        elif head in ("define", "define-once"):
            self.define(form, names)
        elif head == "begin":
            self.all(arguments, names)
        elif head in ("if", "when") and arguments:
            self.choose(form, names)
        elif head == "let" and arguments and isinstance(arguments[0], List):
            self.all(arguments[1:], {**names, **self.bound(arguments[0], names)})
        else:
            raise Undecidable(form.line, f"the form {head}")

    # Scheme ---------------------------------------------------------------------------------

    def define(self, form: List, names: Names) -> None:
        name = form.items[1] if len(form.items) == 3 else None
        if not isinstance(name, Symbol):
            raise Undecidable(form.line, f"{form.head} of something else than a constant")
        names[name.name] = self.value(form.items[2], names)

    def choose(self, form: List, names: Names) -> None:
        condition, *rest = form.items[1:]
        # In Scheme everything but #f is true.
        met = self.value(condition, names) is not False
        if form.head == "when":
            self.all(rest if met else [], names)
        elif len(rest) in (1, 2):
            self.all(rest[:1] if met else rest[1:], names)
        else:
            raise Unreadable(form.line, f"if with {len(rest)} ways")

    def bound(self, pairs: List, names: Names) -> Names:
        made: Names = {}
        for pair in pairs.items:
            if not isinstance(pair, List) or len(pair.items) != 2 or not pair.head:
                raise Undecidable(pair.line, "let of something else than names")
            made[pair.head] = self.value(pair.items[1], names)
        return made

    def value(self, node: Node, names: Names) -> Value:
        if isinstance(node, String | Constant):
            return node.value
        if isinstance(node, Symbol):
            if node.name not in names:
                raise Unreadable(node.line, f"unbound variable: {node}")
            return names[node.name]
        arguments = node.items[1:]
        if node.head == "param" and len(arguments) == 1:
            name = self.value(arguments[0], names)
            key = name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else ""
            return self.params.get(key, False)
        if node.head == "string-append":
            parts = [self.value(each, names) for each in arguments]
            strings = [part for part in parts if isinstance(part, bytes)]
            if len(strings) < len(parts):
                raise Unreadable(node.line, "string-append of something else than strings")
            if sum(map(len, strings)) > VALUE_BYTES:
                raise Undecidable(node.line, f"a string of more than {VALUE_BYTES} bytes")
            return b"".join(strings)
        if node.head == "not" and len(arguments) == 1:
            return self.value(arguments[0], names) is False
        raise Undecidable(node.line, f"the value {str(node)[:80]}")

    def include(self, form: List, names: Names) -> None:
        given = [self.value(each, names) for each in form.items[1:]]
        name = given[0].decode("utf-8", "replace") if given and isinstance(given[0], bytes) else ""
        if name not in self.imports:
            raise Undecidable(form.line, f"the import of {name!r}, which was not given")
        if self.importing == IMPORTED:
            raise Undecidable(form.line, f"more than {IMPORTED} imports inside each other")
        self.importing += 1
        self.all(read(self.imports[name]), names)
        self.importing -= 1

    # Clauses --------------------------------------------------------------------------------

    def clause(self, form: List, names: Names) -> None:
        operations: list[str] = []
        met: list[Filter] = []
        for part in form.items[1:]:
            if isinstance(part, List) and part.head == "with":
                self.modifier(part)
            elif isinstance(part, List):
                met.append(self.filter(part, names))
            elif isinstance(part, Symbol) and known(part.name):
                if met:
                    raise Undecidable(part.line, f"the operation {part} after a filter")
                operations.append(part.name)
            else:
                raise Unreadable(part.line, f"unbound variable: {str(part)[:80]}")
        if not operations:
            raise Unreadable(form.line, f"{form.head} of no operation")
        if len(self.profile.clauses) == CLAUSES:
            raise Undecidable(form.line, f"more than {CLAUSES} clauses")
        whole = met[0] if len(met) == 1 else filters.Joined(_either(form, met), tuple(met))
        allow = form.head == "allow"
        self.profile.clauses.append(Clause(allow, tuple(operations), whole if met else None, form))

    def filter(self, part: List, names: Names) -> Filter:
        return filters.made(part, lambda node: self.value(node, names), self.profile.purse)

    def modifier(self, part: List) -> None:
        name = part.items[1] if len(part.items) > 1 else None
        if not isinstance(name, Symbol) or name.name not in MODIFIERS:
            raise Undecidable(part.line, f"the modifier {str(part)[:80]}")


def _either(form: List, met: Sequence[Filter]) -> List:
    """Return the form `require-any` that is equivalent to several filters of one clause."""
    return List((Symbol("require-any", form.line), *(each.form for each in met)), form.line)
