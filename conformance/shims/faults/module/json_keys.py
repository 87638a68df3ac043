"""Faults in how the member names of a JSON value are read."""

import module.execution as execution
import module.values as values
from faults.registry import fault, replaces


def change_names(value, change):
    if isinstance(value, dict):
        return {change(name): change_names(each, change) for name, each in value.items()}
    if isinstance(value, list):
        return [change_names(each, change) for each in value]
    return value


def change_names_of_values(change):
    @replaces(values)
    def decode(original, data):
        return change_names(original(data), change)


@fault("MODULE-JSON-01", "a member's name is cut at a NUL", "C strings")
def a_name_ends_at_a_nul():
    change_names_of_values(lambda name: name.partition("\0")[0])


@fault(
    "MODULE-JSON-02",
    "half of a surrogate pair is accepted in a member's name",
    "only values are checked",
)
def half_a_pair_in_a_name_is_accepted():
    @replaces(values)
    def deep(original, value):
        if isinstance(value, dict):
            for each in value.values():
                original(each)
        else:
            original(value)


@fault("MODULE-JSON-01", "control characters in a member's name are dropped", "isprint()")
def control_characters_in_a_name_are_dropped():
    change_names_of_values(lambda name: "".join(c for c in name if c >= " "))


@fault("MODULE-JSON-01", "a member's name is cut at 255 characters", "char name[256]")
def a_long_name_is_cut():
    change_names_of_values(lambda name: name[:255])


@fault(
    "MODULE-JSON-03",
    "the names of the input's members are written without escapes",
    'printf("\\"%s\\"")',
)
def names_of_the_input_are_not_escaped():
    @replaces(execution.values)
    def encode(original, value):
        if isinstance(value, dict) and any('"' in n or "\\" in n or n < " " for n in value if n):
            return original(change_names(value, lambda n: n.replace('"', "").replace("\\", "")))
        return original(value)
