"""Long times in ms. A wrong unit or a narrow integer type turns them into almost no time."""

LARGEST = 2**64 - 1
# The first four are an hour or more.
WRAPS = {
    "whole days are dropped": 86_400_000,
    "microseconds in 32 bits": 2**32 // 1000 + 1,
    "seconds in 16 bits": 2**16 * 1000,
    "seconds in 32 bits": 2**32 * 1000,
    "nanoseconds in 64 bits": LARGEST // 10**6 + 1,
    "milliseconds in 31 bits": 2**31,
    "milliseconds in 32 bits": 2**32,
}
