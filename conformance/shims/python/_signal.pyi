# The C half of signal, which has no stub of its own.
from signal import *  # noqa: F403
