"""Signals to process groups. Your own functions replace this file."""

import os
import signal

SIGNALS = {each.value: each.name for each in signal.Signals}


def kill_group(leader):
    """Send SIGKILL to the group of this process. The group may outlive its leader."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass
