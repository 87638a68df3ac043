"""Changes nothing that a contract names: whoever is caught here is caught by chance."""

import sbpl.clauses as clauses
from faults.registry import fault, replaces
from faults.unknown import answers_say_more


@fault(None, "compiles as the twin does", "the other end of the scale", role="noop")
def nothing_is_compiled_differently():
    @replaces(clauses)
    def clause(original, sign, operation, filter_):
        return original(sign, operation, filter_)


@fault(None, "says more than it is asked for", "fields of its own", role="noop")
def each_answer_says_more():
    answers_say_more()
