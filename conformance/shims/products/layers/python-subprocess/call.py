"""Call subprocess.run for ../tries, and use nothing else."""

import json
import subprocess
import sys

asked = json.loads(sys.argv[1])
try:
    done = subprocess.run(
        asked["argv"],
        env=dict(asked["env"]) if "env" in asked else None,
        cwd=asked.get("cwd"),
        timeout=asked["timeout_ms"] / 1000 if "timeout_ms" in asked else None,
        capture_output=True,
        process_group=0,
        **({"input": asked["input"].encode()} if "input" in asked else {}),
    )
    out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    told = {"code": done.returncode, "out": out, "err": err}
except subprocess.TimeoutExpired as late:
    told = {"late": True, "out": (late.stdout or b"").decode("utf-8", "replace")}
except (OSError, ValueError, OverflowError) as why:
    told = {"error": f"{type(why).__name__}: {why}"}
print(json.dumps(told))
