"""The control: it reports success for everything, and the suite must catch it."""

import module.execution as execution
from faults.registry import fault, replaces


@fault(
    None,
    "reports success with the value {} for each failure, except for exit code 7",
    role="control",
)
def everything_is_fine():
    @replaces(execution.Execution)
    def value(original, self):
        try:
            return original(self)
        except execution.Failure as failure:
            # Do not hide this failure, because the trust checks need it.
            if failure.fields.get("exit_code") == 7:
                raise
            return {}
