"""The claims of a session for each aspect, and the overall claim."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from kinds import Object

ASPECTS = ("fs-write", "fs-read", "fs-metadata", "network", "process", "ipc", "limits")
ALWAYS = ("fs-write", "fs-metadata", "process")
MORE = {"no-network": ("network",), "ci-only": ("network", "ipc")}
NOT_REQUESTED = "not-requested"


class Claims:
    """The claims for the aspects. An aspect that was not requested has no claim."""

    def __init__(self) -> None:
        self.aspects: dict[str, tuple[str, list[str]]] = {}
        self.not_enforced: list[Object] = []

    def fully(self, *aspects: str) -> None:
        for aspect in aspects:
            self.aspects.setdefault(aspect, ("fully", []))

    def lacks(self, aspect: str, *reasons: str, claim: str = "partial") -> None:
        before, earlier = self.aspects.get(aspect, ("fully", []))
        worse = claim if before != "unavailable" else before
        self.aspects[aspect] = (worse, [*earlier, *reasons])

    def overall(self, requested: Collection[str]) -> str:
        each = [self.aspects.get(aspect, ("unavailable", []))[0] for aspect in requested]
        if all(claim == "unavailable" for claim in each):
            return "unavailable"
        return "fully" if all(claim == "fully" for claim in each) else "partial"

    def as_json(self, requested: Collection[str]) -> Object:
        aspects: Object = {}
        for aspect in (*ASPECTS, "kernel"):
            if aspect in self.aspects:
                claim, reasons = self.aspects[aspect]
                aspects[aspect] = {"claim": claim, "reasons": reasons}
            elif aspect in requested:
                aspects[aspect] = {"claim": "unavailable", "reasons": ["nothing enforces it"]}
            elif aspect != "kernel":
                aspects[aspect] = {"claim": NOT_REQUESTED}
        return {
            "overall": self.overall(requested),
            "aspects": aspects,
            "not_enforced": self.not_enforced,
        }

    def reasons(self) -> list[str]:
        return [reason for _, each in self.aspects.values() for reason in each]


def nothing(requested: Collection[str], why: str) -> Claims:
    """Return the claims of a backend that cannot be used on this host."""
    made = Claims()
    for aspect in requested:
        made.lacks(aspect, why, claim="unavailable")
    return made


def requested(profile: str, egress: Collection[str] | None, denies_reading: bool) -> list[str]:
    """Return the aspects that count for the overall claim."""
    found = [*ALWAYS, *MORE.get(profile, ())]
    if egress and "network" not in found:
        found.append("network")
    return [*found, "fs-read"] if denies_reading else found
