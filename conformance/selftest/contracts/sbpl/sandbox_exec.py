"""A fake sandbox-exec for Linux, to test the macOS tests there. It passes the lines between the
test and the program that makes the attempts.

It takes `-f FILE PROGRAM…` as the real one does. The first word selects its behaviour: follow the
text, confine nothing, allow nothing, or reject each text.
"""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from pathlib import Path

from contracts.sbpl import mac
from contracts.sbpl.text import Text

BAD_PROFILE = 65


def between(text: Text, program: list[str], allows_nothing: bool) -> int:
    """Forward the requests that the text allows to the program, and answer the others with
    EPERM."""
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as probe:
        assert probe.stdin is not None
        assert probe.stdout is not None
        for line in sys.stdin.buffer:
            action, *paths = json.loads(line)
            if allows_nothing or mac.by_evaluator(text, mac.Attempt(action, paths[0])) != "allow":
                answer = b"%d\n" % errno.EPERM
            else:
                probe.stdin.write(line)
                probe.stdin.flush()
                answer = probe.stdout.readline()
            sys.stdout.buffer.write(answer)
            sys.stdout.buffer.flush()
        probe.stdin.close()
    return 0


def main(kind: str, words: list[str]) -> int:
    option, file, *program = words
    assert option == "-f"
    if kind == "refuses":
        sys.stderr.write("sandbox-exec: unexpected ^ operator in middle of expression\n")
        return BAD_PROFILE
    if kind == "open" or len(program) == 1:
        return subprocess.run(program, check=False).returncode
    return between(Text(Path(file).read_bytes()), program, kind == "closed")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
