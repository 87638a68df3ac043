#!/usr/bin/env python3
"""A shim for boxspec, contract backend. Four places say FILL IN: name, the profiles that your
sandbox lacks, its claims, and its command line.

Until you fill them in, bubblewrap confines the programs, so that `boxspec smoke` and `boxspec run`
work at once. protocol.py and session.py need no change.
"""

import session

import protocol

# FILL IN: the name and version of your sandbox, and how it confines.
ABOUT = {"name": "my-implementation", "version": "0.1", "language": "Python"}
NAME, MECHANISM = "mine", "namespaces"
# FILL IN: the features that your sandbox lacks: "open network", "cache", or a profile.
LACKS = ["cache", "full-dev"]

# FILL IN: its claims: "fully", or the reason why an aspect is not enforced.
CLAIMS = {
    "fs-write": "fully",
    "fs-metadata": "fully",
    "process": "fully",
    "network": "this sandbox leaves the network open",
    "ipc": "this sandbox shares queues, shared memory and sockets with the host",
}


def command(argv, root, scratch, cwd, profile):
    """FILL IN: the command that runs `argv` in your sandbox.

    Programs may write in `root` (not under the profile read-only) and in `scratch`, a private
    directory outside the root, and start in `cwd`.
    """
    words = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--unshare-user", "--unshare-pid"]
    words += ["--proc", "/proc", "--die-with-parent", "--new-session", "--bind", scratch, scratch]
    words += ["--ro-bind" if profile == "read-only" else "--bind", root, root]
    return [*words, "--chdir", cwd, "--", *argv]


sandbox = session.Sandbox(NAME, CLAIMS, LACKS, command)
protocol.main(
    {
        "implementation": ABOUT,
        "capabilities": ["backend"],
        "backends": {NAME: {"mechanism": MECHANISM, "lacks": LACKS}},
    },
    sandbox.operations(),
)
