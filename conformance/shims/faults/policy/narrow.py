"""Limit a fault to the operations that its requirement is about.

Explaining, auditing and following links also make decisions, and have requirements of their own. A
fault that breaks those as well would prove less about the suite.
"""

import policy.ops as ops
from faults.registry import changed
from policy.contract import CONTRACT


class During:
    """A context that is active while one of these operations is answered."""

    def __init__(self, *names):
        self.is_now = False
        for name in names:
            function = CONTRACT.operations[name].removeprefix("ops:")
            setattr(ops, function, self.marked(getattr(ops, function)))

    def marked(self, operation):
        def run(shim, reader):
            with changed(self, is_now=True):
                return operation(shim, reader)

        return run

    def replaces(self, owner, name=None):
        """Replace a function as registry.replaces does, but only while such an operation is
        answered."""

        def install(function):
            target = name or function.__name__
            original = getattr(owner, target)

            def replacement(*arguments, **named):
                if not self.is_now:
                    return original(*arguments, **named)
                return function(original, *arguments, **named)

            setattr(owner, target, replacement)
            return function

        return install
