"""Call timeout for ../tries, with the pipes of Python's subprocess, and use nothing else."""

import json
import subprocess
import sys

asked = json.loads(sys.argv[1])
command = ["timeout", "--kill-after=5", str(asked.get("timeout_ms", 0) / 1000), *asked["argv"]]
try:
    done = subprocess.run(
        command,
        executable="/usr/bin/timeout",
        close_fds=False,
        env=dict(asked["env"]) if "env" in asked else None,
        cwd=asked.get("cwd"),
        capture_output=True,
    )
    told = {"code": done.returncode, "out": done.stdout.decode(), "err": done.stderr.decode()}
    if done.returncode in (125, 126, 127) and told["err"].startswith("timeout: "):
        told = {"error": told["err"].strip()}
except (OSError, ValueError) as why:
    told = {"error": f"{type(why).__name__}: {why}"}
print(json.dumps(told))
