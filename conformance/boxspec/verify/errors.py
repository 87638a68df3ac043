"""The error of a target that cannot be asked on this host."""


class UntestableError(Exception):
    """The text is the reason, for the table."""
