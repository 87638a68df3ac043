"""The program that runs in the sandbox.

It reads actions and paths from stdin, makes the attempts and prints the results. It is a separate
file that imports nothing from the kit, so that the attempts are its only accesses.
"""

import json
import os
import sys
from collections.abc import Callable


def create(path: str) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def write(path: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, b"x")
    finally:
        os.close(fd)


def read(path: str) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.read(fd, 1)
    finally:
        os.close(fd)


def mode(path: str) -> None:
    os.chmod(path, 0o700)  # noqa: PTH101


ACTIONS: dict[str, Callable[..., object]] = {
    "create": create,
    "write": write,
    "mode": mode,
    "remove": os.unlink,
    "rename": os.rename,
    "read": read,
    "stat": os.stat,
}


def main() -> None:
    for line in sys.stdin:
        action, *paths = json.loads(line)
        try:
            ACTIONS[action](*paths)
            number = 0
        except OSError as why:
            number = why.errno or -1
        print(number, flush=True)


if __name__ == "__main__":
    main()
