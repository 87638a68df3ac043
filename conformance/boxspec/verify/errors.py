"""The exception for a target that cannot be tested on this host."""


class UntestableError(Exception):
    """Raised if a target cannot be tested on this host. The table shows the text as the reason."""
