"""No-ops: changes that no requirement forbids. A test that fails here tests too much."""

import time

import policy.decide as deciding
import policy.merge as merge
import policy.ops as ops
from faults.registry import changed, fault, replaces
from faults.unknown import answers_say_more


@fault(None, "decides as the unchanged implementation", "the other end of the scale", role="noop")
def nothing_is_decided_differently():
    @replaces(deciding)
    def last_match(original, entries, text, fold):
        return original(entries, text, fold)


@fault(None, "adds fields to its answers", "fields of its own", role="noop")
def each_answer_says_more():
    answers_say_more()


@fault(
    None,
    "records the time of the last clock tick, with an offset",
    "datetime.isoformat, time()",
    role="noop",
)
def time_of_the_last_tick():
    @replaces(ops)
    def now(original):
        right = time.time_ns
        # A clock with 100 ticks per second may report a time that is 8 ms old.
        with changed(time, time_ns=lambda: right() - 8_000_000):
            return original().replace("Z", "+00:00")


@fault(None, "reports an escaped NUL as a wrong value", "well-formed by RFC 8259", role="noop")
def escaped_nul_is_a_wrong_value():
    @replaces(merge)
    def refusal(original, problems):
        # In the first of these vectors the description contains the NUL. Its value starts at this
        # column.
        value = {"pointer": "/spec/description", "column": 94}
        told = [each | value if "escaped NUL" in each["message"] else each for each in problems]
        return original(told)
