"""The mistakes that the runner must find, each made by planted.c under its name."""

from __future__ import annotations

import errno

from trials import Fault

FAULT = Fault("exec.run", "pipe", 1, errno.EMFILE)
# Each mistake, and a word that its findings must contain; the correct shim has no findings.
PLANTED = {
    "crashes": "crash: SIGABRT",
    "hangs": "hang",
    "survives": "survivor",
    "leaves-a-file": "left behind: response.left",
    "leaks-a-descriptor": "leak: 1 descriptors",
    "leaks-memory": "leak: 1 allocations",
    "says-nothing": "no answer and no word",
    "allows": "dishonest: /result/checks/0/allowed",
    "cuts-output": "dishonest: /result/stdout",
    "is-no-json": "no JSON",
    "is-right": "",
}
