"""Make a decoy that is a link, if the path of a rule is a link on the user's host."""

from __future__ import annotations

from dataclasses import dataclass

from boxspec.verify.paths import Place
from boxspec.verify.row import Target
from boxspec.verify.scene import Scene


@dataclass(frozen=True)
class Link(Target):
    """A link in the scene. It leads to the place where the decoys of the rule lie."""

    place: Place
    to: Place
    to_folder: bool

    def link(self, scene: Scene) -> None:
        scene.link(scene.path(self.place), scene.path(self.to), self.to_folder)
