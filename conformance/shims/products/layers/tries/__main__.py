"""Show the behaviour of a library without the kit: tries ID... -- CALLER...

CALLER is a short program that runs one command with a library, in the way that the library's own
documentation shows. Its last argument is JSON: argv, and, if wanted, env (pairs), cwd, input,
timeout_ms and cap. It prints JSON: code, out and err; late; or error. This program uses no code of
the kit. For each ID it prints a line: whether the failure was seen, and the observations.
"""

import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile

import end  # noqa: F401 its tries are kept
import group  # noqa: F401
import start  # noqa: F401
from scene import CALLER, TRIES, NotTried


def line_of(name):
    function = TRIES.get(name)
    if function is None:
        return f"{name} not tried: nothing here tries it"
    kept = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="tries-") as folder:
        os.chdir(folder)
        try:
            seen, what = function()
        except (NotTried, subprocess.TimeoutExpired) as why:
            return f"{name} not tried: {why}"
        finally:
            os.chdir(kept)
    return f"{name} {'seen' if seen else 'not seen'}: {json.dumps(what, ensure_ascii=True)[:600]}"


def main(words):
    middle = words.index("--")
    caller = words[middle + 1 :]
    # The path is made absolute, because some tries change PATH.
    CALLER.extend([shutil.which(caller[0]), *caller[1:]])
    # become a subreaper: then orphans of a try become children of this process
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    for name in words[:middle] or TRIES:
        print(line_of(name), flush=True)


main(sys.argv[1:])
