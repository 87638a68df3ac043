"""The backend none.

It is unavailable for every profile. So programs run only in a session that may degrade.
"""

from __future__ import annotations

from backend.claims import Claims, nothing, requested

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from backend.context import Context
    from backend.environment import Pairs
    from backend.rules import Rules


class NoBackend:
    def probe(self, profile: str, given: Rules | None, egress: Sequence[str] | None) -> Claims:
        wanted = requested(profile, egress, bool(given and given.deny_read))
        return nothing(wanted, "there is no sandbox")

    def prepare(self, context: Context, claims: Claims) -> None:
        pass

    def wrap(
        self, argv: Sequence[bytes], context: Context, cwd: bytes
    ) -> tuple[list[bytes], Pairs]:
        return list(argv), []

    def shutdown(self) -> None:
        pass
