"""Whom a SIGCONT goes to, where it goes to too few: a mistake of closes and of bridges."""

import _signal
import os


def to_nobody(process):
    pass


def to_the_leader_alone(process):
    if not process.reaped:
        os.kill(process.pid, _signal.SIGCONT)
