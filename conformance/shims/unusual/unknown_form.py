"""The Python implementation, with one clause in its texts that has an unknown form."""

import os
import sys

PYTHON_IMPLEMENTATION = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python"
)
sys.path.insert(0, PYTHON_IMPLEMENTATION)

import sbpl.clauses as clauses
from protocol import main

CLAUSE = '(deny file-write* (regex "^/private/etc/(?:hosts|passwd)$"))'

clauses.PARTS = (*clauses.PARTS, lambda given: [CLAUSE])

if __name__ == "__main__":
    os._exit(main())
