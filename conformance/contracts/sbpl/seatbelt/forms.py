"""Turn a text into clauses: evaluate its Scheme, and collect the calls of `allow` and `deny`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from contracts.sbpl.seatbelt import special, vocabulary
from contracts.sbpl.seatbelt.filters import Filter, Gap, joined
from contracts.sbpl.seatbelt.filters import Unknown as UnknownFilter
from contracts.sbpl.seatbelt.operations import DEFAULT, known, may_be_one
from contracts.sbpl.seatbelt.reader import (
    List,
    Node,
    Refused,
    Symbol,
    Undecidable,
    Unreadable,
    Unset,
    read,
)
from contracts.sbpl.seatbelt.regexes import StepBudget
from contracts.sbpl.seatbelt.scheme import STEPS, STEPS_OF_A_FORM, Evaluator, TooMuch
from contracts.sbpl.seatbelt.values import (
    NOTHING,
    Builtin,
    Modifier,
    NotSet,
    Operation,
    Scope,
    Unknown,
    spelled,
    strange,
)
from contracts.sbpl.seatbelt.vocabulary import Word

CLAUSES, CLAUSES_OF_A_FORM = 20_000, 5_000
IMPORTED = 8


@dataclass(frozen=True, eq=False)
class Clause:
    """A call of `allow` or `deny`. One of its filters must match; without filters, every subject
    matches.

    allow: None for a form of unknown effect.
    file: the imported file that contains the clause.
    """

    allow: bool | None
    operations: tuple[str, ...]
    filter: Filter | None
    form: List
    file: str = ""
    modifiers: tuple[str, ...] = ()

    @property
    def line(self) -> int:
        return self.form.line

    @property
    def place(self) -> str:
        return f"line {self.line} of {self.file}" if self.file else f"line {self.line}"

    def __str__(self) -> str:
        return str(self.form)


@dataclass(eq=False)
class Profile:
    """The content of a text, in the order of the text."""

    forms: list[Node]
    clauses: list[Clause] = field(default_factory=list)
    budget: StepBudget = field(default_factory=StepBudget)
    # The form `(version N)` if N is not 1.
    version: List | None = None

    def unknown_operations(self) -> tuple[str, ...]:
        names = {name for each in self.clauses for name in each.operations if not known(name)}
        return tuple(sorted(names))


def load(
    text: bytes,
    params: Mapping[str, bytes] | None = None,
    imports: Mapping[str, bytes] | None = None,
) -> Profile:
    """Load a text in the same way as sandbox-exec.

    imports: the files that the text may import.
    """
    forms = read(text)
    versions = [each for each in forms if isinstance(each, List) and each.head == "version"]
    if not versions:
        source = "published runs: no version specified, exit status 65"
        raise Refused(forms[0].line if forms else 1, "the text has no (version 1)", source)
    profile = Profile(forms)
    loader = Loader(profile, params or {}, imports or {})
    loader.all(forms)
    if loader.missing:
        first, names = loader.missing[0], dict.fromkeys(each.name for each in loader.missing)
        raise Unset(first.line, tuple(names), first.file)
    return profile


class Loader(Evaluator):
    """Evaluates a text: its `allow` and `deny` add clauses to a profile."""

    def __init__(
        self, profile: Profile, params: Mapping[str, bytes], imports: Mapping[str, bytes]
    ) -> None:
        super().__init__()
        self.profile, self.params, self.imports = profile, params, imports
        self.missing: list[NotSet] = []
        self.file, self.importing = "", 0
        self.at_most = CLAUSES
        # Filters and operations that are added to each clause inside `with-filter` or
        # `with-operations`.
        self.extra_filters: list[Filter] = []
        self.extra_operations: list[str] = []
        self.builtins |= {
            "allow": self._lax("allow", lambda given, form: self.clause(True, given, form)),
            "deny": self._lax("deny", lambda given, form: self.clause(False, given, form)),
            "param": Builtin("param", self._param),
            "getenv": Builtin("getenv", self._param),
            "version": Builtin("version", self._version),
            "import": Builtin("import", self._import),
            "load": Builtin("load", self._import),
            "error": Builtin("error", self._error),
            "throw": Builtin("throw", self._error),
        }
        self.special = {
            **{name: partial(form, self) for name, form in special.FORMS.items()},
            "with": self._with,
            "apply-message-filter": self._message_filter,
            "with-filter": self._with_filter,
            "with-operations": self._with_operations,
            "with-modifier": self._with_modifier,
        }

    @staticmethod
    def _lax(name: str, call: Callable[[Sequence[object], List], object]) -> Builtin:
        return Builtin(name, call, words=True)

    def bound(self, name: str, scope: Scope) -> object | None:
        found = super().bound(name, scope)
        if found is None and vocabulary.is_filter(name):
            found = self.builtins[name] = self._filter_function(name)
        if found is None and name in vocabulary.WITHOUT_EFFECT:
            found = self.builtins[name] = Builtin(name, lambda given, form: NOTHING, strict=False)
        return found

    # The top level --------------------------------------------------------------------------

    def all(self, forms: Sequence[Node]) -> None:
        for form in forms:
            allowance = self.left_of_form = min(STEPS_OF_A_FORM, self.left)
            before = len(self.profile.clauses)
            outer, self.at_most = self.at_most, before + CLAUSES_OF_A_FORM
            try:
                self.statement(form, self.globals)
                self.left -= allowance - self.left_of_form
            except (TooMuch, RecursionError) as why:
                # The evaluation was stopped, so it is unknown which clauses it would have added.
                del self.profile.clauses[before:]
                self.without_end(form, str(why))
                self.left = max(self.left - STEPS // 2, 0)
            self.at_most = outer

    def without_end(self, form: Node, why: str) -> None:
        node = form if isinstance(form, List) else List((form,), form.line)
        # `allow` and `deny` add clauses only for the operations that they name. A function may add
        # any clause.
        is_clause = node.head in ("allow", "deny")
        named = tuple(dict.fromkeys(_operations_in(node))) if is_clause else ()
        self.add(None, named or (DEFAULT,), UnknownFilter(node, Gap(why)), node, ())

    def opaque(self, node: Node, value: Unknown) -> None:
        """Add a clause of unknown effect.

        The clause is about the operations that the form names. If the form names none, it is about
        all operations.
        """
        form = node if isinstance(node, List) else List((node,), node.line)
        named = dict.fromkeys(_operations_in(form))
        self.add(None, tuple(named) or (DEFAULT,), UnknownFilter(form, value.gap), form, ())

    # Clauses --------------------------------------------------------------------------------

    def clause(self, allow: bool, given: Sequence[object], form: List) -> object:
        operations: list[str] = []
        filters: list[Filter] = []
        modifiers: list[str] = []
        # doubt: the reason why it is unknown whether the clause exists. gap: the reason why the
        # clause may match more subjects.
        doubt: Gap | None = None
        gap: Gap | None = None
        for value in given:
            if isinstance(value, Modifier):
                modifiers.append(value.name)
                if not value.name:
                    doubt = doubt or Gap(f"the modifier {str(value.form)[:80]}")
            elif isinstance(value, Filter):
                filters.append(value)
            elif isinstance(value, Operation | Word):
                name = value.name if isinstance(value, Operation) else str(value)
                if filters or not (known(name) or may_be_one(name)):
                    gap = gap or Gap(f"{name} in {str(form)[:80]}")
                else:
                    operations.append(name)
            elif isinstance(value, Unknown):
                gap = gap or value.gap
            else:
                if isinstance(value, NotSet):
                    self.not_set(value)
                doubt = doubt or Gap(f"the clause {str(form)[:80]}")
        if gap is not None:
            filters.append(UnknownFilter(form, gap))
        whole = _either(form, filters)
        if doubt is not None:
            whole = UnknownFilter(form, doubt)
        if not operations and not self.extra_operations:
            gap = doubt or gap or Gap(f"the clause {str(form)[:80]}")
            self.opaque(form, Unknown(gap, form.line))
            return NOTHING
        self.add(allow, tuple(operations), whole, form, tuple(modifiers))
        return NOTHING

    def add(
        self,
        allow: bool | None,
        operations: tuple[str, ...],
        whole: Filter | None,
        form: List,
        modifiers: tuple[str, ...],
    ) -> None:
        if len(self.profile.clauses) == CLAUSES:
            raise Undecidable(form.line, f"more than {CLAUSES} clauses", self.file)
        if len(self.profile.clauses) >= self.at_most:
            raise TooMuch(form.line, f"a form of more than {CLAUSES_OF_A_FORM} clauses")
        extra = [*self.extra_filters, *(UnknownFilter(form, each) for each in self.conditions)]
        if extra:
            parts = extra if whole is None else [whole, *extra]
            whole = parts[0] if len(parts) == 1 else joined("require-all", form, parts)
        operations = (*self.extra_operations, *operations)
        made = Clause(allow, operations, whole, form, self.file, modifiers)
        self.profile.clauses.append(made)

    def _filter_function(self, name: str) -> Builtin:
        def call(given: Sequence[object], form: List) -> object:
            if name in vocabulary.JOINS:
                given = [_as_filter(each, form) for each in given]
            for each in given:
                if isinstance(each, Unknown):
                    return UnknownFilter(form, each.gap)
                if isinstance(each, NotSet):
                    self.not_set(each)
                    return UnknownFilter(form, Gap(f"the parameter {each.name}"))
            written = spelled(form, given)
            try:
                return vocabulary.made(name, form, given, written, self.profile.budget)
            except Refused as why:
                if self.conditions:
                    return UnknownFilter(form, Gap(why.words))
                why.file = self.file
                raise

        return Builtin(name, call, words=True)

    # Functions of the language --------------------------------------------------------------

    def not_set(self, unset: NotSet) -> object:
        # A branch with an unknown condition may not be taken. So a missing parameter in it may not
        # be needed.
        if not self.conditions:
            self.missing.append(unset)
        return super().not_set(unset)

    def _param(self, given: Sequence[object], form: List) -> object:
        name = given[0] if len(given) == 1 else None
        if not isinstance(name, bytes):
            return Unknown(Gap(f"the value {str(form)[:80]}"), form.line)
        key = name.decode("utf-8", "surrogateescape")
        if key in self.params:
            return self.params[key]
        return NotSet(key, form.line, self.file)

    def _version(self, given: Sequence[object], form: List) -> object:
        if list(given) not in ([1], [2], [3]):
            raise Undecidable(form.line, f"{str(form)[:80]}, other than (version 1),", self.file)
        if given[0] != 1 and not self.file:
            self.profile.version = form
        return NOTHING

    def _error(self, given: Sequence[object], form: List) -> object:
        if self.conditions:
            return strange(form)
        source = "`error` ends the evaluation of a profile"
        raise Refused(form.line, f"the profile ends itself: {str(form)[:120]}", source)

    def _import(self, given: Sequence[object], form: List) -> object:
        first = given[0] if given else None
        if not isinstance(first, bytes):
            return strange(form)
        name = first.decode("utf-8", "replace")
        found = name if name in self.imports else name.rpartition("/")[2]
        if found not in self.imports:
            words = f"the import of {name!r}, which was not given"
            return Unknown(Gap(words, fact=f"import {found or name}"), form.line)
        if self.importing == IMPORTED:
            return Unknown(Gap(f"more than {IMPORTED} imports inside each other"), form.line)
        outer, self.file = self.file, found
        self.importing += 1
        steps = self.left_of_form
        try:
            self.all(read(self.imports[found]))
        except Unreadable as why:
            why.file = why.file or found
            raise
        finally:
            self.importing -= 1
            self.file = outer
        self.left_of_form = steps
        return NOTHING

    # Special forms --------------------------------------------------------------------------

    def _with(self, form: List, scope: Scope) -> object:
        name = form.items[1] if len(form.items) > 1 else None
        if isinstance(name, List) and name.head == "quote" and len(name.items) == 2:
            name = name.items[1]
        is_known = isinstance(name, Symbol) and name.name in vocabulary.MODIFIERS
        return Modifier(str(name) if is_known else "", form)

    def _message_filter(self, form: List, scope: Scope) -> object:
        """Evaluate a filter of messages. It does not restrict the allowed operation itself."""
        return Modifier("apply-message-filter", form)

    def _with_filter(self, form: List, scope: Scope) -> object:
        filter_ = self.value(form.items[1], scope) if len(form.items) > 1 else None
        if not isinstance(filter_, Filter):
            gap = filter_.gap if isinstance(filter_, Unknown) else Gap(f"the form {str(form)[:80]}")
            filter_ = UnknownFilter(form, gap)
        with _pushed(self.extra_filters, filter_):
            return self._inside(form, scope)

    def _with_operations(self, form: List, scope: Scope) -> object:
        given = self.value(form.items[1], scope) if len(form.items) > 1 else None
        if not isinstance(given, tuple) or not all(isinstance(each, Operation) for each in given):
            return strange(form)
        before = len(self.extra_operations)
        self.extra_operations += [each.name for each in given if isinstance(each, Operation)]
        try:
            return self._inside(form, scope)
        finally:
            del self.extra_operations[before:]

    def _with_modifier(self, form: List, scope: Scope) -> object:
        return self._inside(form, scope)

    def _inside(self, form: List, scope: Scope) -> object:
        """Evaluate the forms that follow the first argument."""
        begin = Symbol("begin", form.line)
        return self.value(List((begin, *form.items[2:]), form.line), scope)


@contextmanager
def _pushed(stack: list[Filter], one: Filter) -> Iterator[None]:
    stack.append(one)
    try:
        yield
    finally:
        stack.pop()


def _as_filter(value: object, form: List) -> object:
    """Return an unknown part of a combined filter as a separate filter."""
    if isinstance(value, Unknown):
        return UnknownFilter(form, value.gap)
    if isinstance(value, Word):
        return UnknownFilter(form, Gap(f"the name {value}"))
    return value


def _either(form: List, filters: Sequence[Filter]) -> Filter | None:
    if len(filters) < 2:
        return filters[0] if filters else None
    return joined("require-any", form, filters)


def _operations_in(form: List) -> Iterator[str]:
    for each in form.items:
        if isinstance(each, List):
            yield from _operations_in(each)
        elif isinstance(each, Symbol) and known(each.name):
            yield each.name
