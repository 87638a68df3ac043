"""No-ops: changes that no requirement forbids. A test that fails here tests too much."""

import sbpl.clauses as clauses
import sbpl.filters as filters
from faults.registry import fault, replaces
from faults.unknown import answers_say_more


@fault(None, "compiles as the unchanged implementation", "the other end of the scale", role="noop")
def nothing_is_compiled_differently():
    @replaces(clauses)
    def clause(original, sign, operation, filter_):
        return original(sign, operation, filter_)


@fault(None, "adds fields to its answers", "fields of its own", role="noop")
def each_answer_says_more():
    answers_say_more()


@fault(None, "writes regular expressions in the raw form", 'published profiles: #"…"', role="noop")
def raw_expressions():
    @replaces(filters)
    def regex(original, expression, pointer):
        if '"' in expression:
            return original(expression, pointer)
        filters.refuse_controls(expression, pointer)
        if filters.size(expression) > filters.LONGEST:
            raise filters.refused(pointer, "becomes a string that is too long")
        return f'(regex #"{expression}")'
