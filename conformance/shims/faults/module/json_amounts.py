"""Faults of the input that depend on its length, or on the size of a number."""

import os

import module.runner as runner
import module.values as values
from faults.registry import fault, replaces


@fault("MODULE-JSON-01", "the last byte of a full buffer of input is lost", "read(n - 1)")
def the_last_byte_of_a_full_buffer_is_lost():
    @replaces(runner)
    def hand_over_input(original):
        original()
        length = os.fstat(0).st_size
        if length and length % 65536 == 0:
            os.ftruncate(0, length - 1)


@fault("MODULE-JSON-01", "input of more than 8 MiB is cut", "a limit of the reader")
def long_input_is_cut():
    @replaces(runner)
    def hand_over_input(original):
        original()
        if os.fstat(0).st_size > 2**23:
            os.ftruncate(0, 2**23)


@fault("MODULE-JSON-03", "an input that is one large integer is passed as a double", "Number(text)")
def a_large_integer_as_input_loses_digits():
    @replaces(values)
    def encode(original, value):
        if isinstance(value, int) and abs(value) > 2**53:
            value = int(float(value))
        return original(value)
