"""The control: it reports success for everything, and the suite must catch it."""

import exec.batch as batch
from errors import Failed
from faults.registry import fault, replaces

NOTHING = {
    "stdout": "",
    "stderr": "",
    "duration_ms": 0,
    "output": None,
    "termination": "exit",
    "signal": None,
    "detached_writers": False,
    "group_left": 0,
    "pending_signals": [],
    "truncated": False,
}


@fault(None, "reports success for everything", "mocks", role="control")
def everything_is_fine():
    @replaces(batch.Batch)
    def run(original, self):
        answers = original(self)
        return [
            (NOTHING if isinstance(a, Failed) else a) | {"success": True, "exit_code": 0}
            for a in answers
        ]
