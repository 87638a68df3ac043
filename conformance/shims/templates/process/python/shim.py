#!/usr/bin/env python3
"""A shim for boxspec, contract process. Three places say FILL IN: name, capabilities, and the class
of a handle, in handle.py.

Until you fill them in, Python's subprocess.Popen starts the programs, so that `boxspec smoke` and
`boxspec run` work at once. protocol.py needs no change.
"""

from concurrent.futures import ThreadPoolExecutor

from bridge import process_bridge
from handle import Handle

import protocol
from protocol import Failed

# FILL IN: the name and version of your implementation.
ABOUT = {"name": "my-implementation", "version": "0.1", "language": "Python"}
# FILL IN: its capabilities, by their names in shim-protocol.md. All others are refused.
CAPABILITIES = ["process"]
HANDLE = {"request", "stdin", "stdout", "stderr", "nonblocking"}


def take(handles, step):
    """Take one step of a script; return its result or its error."""
    try:
        if step["step"] == "repeat":
            last = []
            for count in range(step["count"]):
                last = [take(handles, each) for each in step["steps"]]
                if any("error" in each for each in last):
                    return {"repeated": count, "last": last}
            return {"repeated": step["count"], "last": last}
        return getattr(handles[step["handle"]], step["step"])(step)
    except Failed as why:
        return {"error": why.error}
    except (OSError, ValueError, AttributeError) as why:
        return {"error": {"kind": "execution", "message": str(why)}}


def process_script(message):
    for asked in message["handles"].values():
        protocol.refuse_others(asked, HANDLE, "process")
    handles = {name: Handle(asked) for name, asked in message["handles"].items()}
    threads, results = {}, []
    for step in message["steps"]:
        thread = step.get("thread")
        if step["step"] == "join":
            threads.pop(thread).shutdown(wait=True)
            results.append(lambda: {})
        elif thread:
            # Each named thread takes its steps in order, while the script goes on.
            if thread not in threads:
                threads[thread] = ThreadPoolExecutor(1)
            results.append(threads[thread].submit(take, handles, step).result)
        else:
            done = take(handles, step)
            results.append(lambda done=done: done)
    for pool in threads.values():
        pool.shutdown(wait=True)
    for each in handles.values():
        each.drop({})
    return {"steps": [result() for result in results]}


def always(message):
    return True


protocol.main(
    {"implementation": ABOUT, "capabilities": CAPABILITIES},
    {
        "process.script": (process_script, {"handles", "steps"}, always),
        "process.bridge": (process_bridge, {"request"}, always),
    },
)
