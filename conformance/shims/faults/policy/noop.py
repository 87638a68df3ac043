"""Changes nothing that a contract names: whoever is caught here is caught by chance."""

import policy.decide as deciding
from faults.registry import fault, replaces
from faults.unknown import answers_say_more


@fault(None, "decides as the twin does", "the other end of the scale", role="noop")
def nothing_is_decided_differently():
    @replaces(deciding)
    def last_match(original, entries, text, fold):
        return original(entries, text, fold)


@fault(None, "says more than it is asked for", "fields of its own", role="noop")
def each_answer_says_more():
    answers_say_more()
