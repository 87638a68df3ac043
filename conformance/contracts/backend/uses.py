"""Different uses of a session. The confinement must not depend on the number of a call, its
directory or its request.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from contracts.backend.client import Context
from contracts.backend.ground import Ground
from contracts.shared.requests import ExecRequest

PATH = "/usr/local/bin:/usr/bin:/bin"
MANY = 9


@dataclass
class Use:
    """One use: the calls before those of a test, further fields of calls and context, and variables
    of the caller."""

    before: list[ExecRequest] = field(default_factory=list)
    call: ExecRequest = field(default_factory=ExecRequest)
    context: Context = field(default_factory=Context)
    env: dict[str, str] = field(default_factory=dict)


def shell(line: str, fields: ExecRequest | None = None) -> ExecRequest:
    """Return a call that runs a script, with further fields of its request."""
    made = ExecRequest(program="/bin/sh", args=["-c", line])
    made.update(fields or {})
    return made


def _directory_below(ground: Ground) -> Use:
    (ground.ws / "below").mkdir()
    return Use(context={"cwd": str(ground.ws / "below")})


def _directory_through_a_link(ground: Ground) -> Use:
    (ground.ws / "below").mkdir()
    (ground.ws / "way").symlink_to("below")
    return Use(context={"cwd": str(ground.ws / "way")})


def _directory_of_the_call(ground: Ground) -> Use:
    (ground.ws / "below").mkdir()
    return Use(call={"current_dir": str(ground.ws / "below")})


def _root_through_a_link(ground: Ground) -> Use:
    link = ground.folder / "link"
    link.symlink_to(ground.ws)
    return Use(context={"root": str(link)})


def _after_many(ground: Ground) -> Use:
    return Use(before=[shell(":")] * MANY)


def _after_failures(ground: Ground) -> Use:
    return Use(
        before=[
            {"program": str(ground.ws / "absent"), "args": []},
            shell("exit 3"),
            shell("kill -KILL $$"),
            shell("sleep 60", {"timeout_ms": 100}),
            shell("echo too much", {"max_output_bytes": 1}),
        ]
    )


def _after_input(ground: Ground) -> Use:
    return Use(before=[shell("cat", {"stdin": b"x" * 100_000}), shell("cat", {"stdin": "inherit"})])


def _empty_stdin(ground: Ground) -> Use:
    return Use(call={"stdin": "null"})


def _bytes_as_stdin(ground: Ground) -> Use:
    return Use(call={"stdin": b"x\n"})


def _environment_of_the_request(ground: Ground) -> Use:
    return Use(call={"env": {"PATH": PATH, "HOME": str(ground.home), "X": "y"}})


def _limits(ground: Ground) -> Use:
    return Use(call={"timeout_ms": 15_000, "max_output_bytes": 1 << 20})


def _home_in_the_root(ground: Ground) -> Use:
    for name in ("home", "temporary"):
        (ground.ws / name).mkdir()
    return Use(env={"HOME": str(ground.ws / "home"), "TMPDIR": str(ground.ws / "temporary")})


USES: tuple[Callable[[Ground], Use], ...] = (
    _directory_below,
    _directory_through_a_link,
    _directory_of_the_call,
    _root_through_a_link,
    _after_many,
    _after_failures,
    _after_input,
    _empty_stdin,
    _bytes_as_stdin,
    _environment_of_the_request,
    _limits,
    _home_in_the_root,
)


def name_of(use: Callable[[Ground], Use]) -> str:
    return use.__name__.strip("_")
