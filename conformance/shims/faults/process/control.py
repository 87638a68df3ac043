"""The control: it reports success for everything, and the suite must catch it."""

import process.script as script
from faults.registry import fault, replaces


@fault(None, "reports success for every step and does nothing", "mocks", role="control")
def nothing_is_done():
    @replaces(script.Step)
    def perform(original, self):
        # Steps of the trust checks stay correct.
        if self.handle is not None and self.handle.request.program.endswith(b"/exit-with"):
            original(self)
