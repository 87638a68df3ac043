"""A link among the decoys, where the path of a rule is a link for the user."""

from __future__ import annotations

from dataclasses import dataclass

from boxspec.verify.paths import Place
from boxspec.verify.row import Target
from boxspec.verify.scene import Scene


@dataclass(frozen=True)
class Link(Target):
    """A link at a place, to another place of the scene. The decoys of the rule lie there."""

    place: Place
    to: Place
    to_folder: bool

    def link(self, scene: Scene) -> None:
        scene.link(scene.path(self.place), scene.path(self.to), self.to_folder)
