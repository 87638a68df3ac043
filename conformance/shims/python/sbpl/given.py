"""The input of a compilation."""

from __future__ import annotations

from sbpl.filters import Filters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from policy.decide import Resolved


class Input:
    """The input of a compilation. Paths are canonical. `env` contains the variables that are set
    and not empty."""

    def __init__(
        self,
        resolved: Resolved,
        root: str,
        env: Mapping[str, str],
        side_roots: Sequence[str],
        provider: str | None,
        fold: bool,
    ) -> None:
        self.read = resolved.read
        self.modify = resolved.modify
        self.root = root
        self.env = env
        self.side_roots = side_roots
        self.provider = provider
        self.fold = fold
        self.filters = Filters(root, fold)
