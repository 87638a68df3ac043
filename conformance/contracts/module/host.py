"""Features of the host that some tests of module need."""

import subprocess


def without_readable_environments() -> str | None:
    """Return a text if on this host a process cannot read the environment of its parent, otherwise
    None."""
    words = ["/bin/sh", "-c", "head -c 1 /proc/$PPID/environ"]
    done = subprocess.run(words, capture_output=True, check=False)
    return (
        None if done.stdout else "this system does not let a process read its parent's environment"
    )
