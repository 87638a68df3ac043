"""Changes of the metadata of files outside."""

from typing import Any

import pytest

from boxspec.api import expect, requires, satisfies
from contracts.backend.attempt import WORK, attempt
from contracts.backend.client import BackendCase
from contracts.backend.ground import made_ground
from contracts.shared.requests import ExecRequest

STRICT = "backend.strict_metadata"

PROBES = (
    *("w_chmod", "w_fchmodat2", "w_fchmod_rdonly", "w_chown", "w_utimes", "w_setxattr"),
    *("w_removexattr", "w_setxattrat", "w_ioctl_setflags", "w_ioctl_fssetxattr"),
    *("w_file_setattr", "w_lchown", "w_futimens_rdonly", "w_lsetxattr", "w_fsetxattr_rdonly"),
)


@requires("BACKEND-META-01")
@pytest.mark.parametrize("probe", PROBES)
def test_metadata_outside_stays(case: BackendCase, probe: str) -> None:
    attempt(case, probe)


@requires("BACKEND-META-02", capability=STRICT)
@pytest.mark.parametrize("probe", PROBES)
def test_metadata_outside_stays_under_strict_metadata(case: BackendCase, probe: str) -> None:
    attempt(case, probe, strict_metadata=True)


# Each command changes one kind of metadata, and exits with a nonzero status if that fails.
CHANGES = {"mode": "chmod 600 file", "times": "touch -d 2001-02-03 file"}


@requires(
    "BACKEND-META-03", capability=STRICT, needs=[WORK, "BACKEND-ALLOW-04", "BACKEND-CONTEXT-01"]
)
@pytest.mark.parametrize("what", CHANGES)
def test_a_warning_names_changes_that_strict_metadata_refuses_inside(
    case: BackendCase, what: str
) -> None:
    with made_ground() as ground:
        (ground.ws / "file").write_text("x")
        asked: dict[str, Any] = {"root": ground.ws, "profile": "repo-write"}
        asked["on_unavailable"] = "degrade"
        call: ExecRequest = {"program": "/bin/sh", "args": ["-c", CHANGES[what]]}
        # This session without strict_metadata shows the warnings that the backend gives in any
        # case. It runs first, so that the strict session cannot affect it.
        plain = case.backend.run([{"program": "/bin/true"}], **asked)
        session = case.backend.run([call], **asked, strict_metadata=True)
    session.need_enforcement()
    refused = session.only.result["exit_code"] != 0
    # Only warnings that the first session lacks are examined, because a backend may word its
    # warnings freely.
    warnings = [text for text in session.result["warnings"] if text not in plain.result["warnings"]]
    expect(
        f"whether a change of {what} inside is refused, and the warnings that come with it",
        (refused, warnings),
        satisfies(lambda got: bool(got[1]) or not got[0], "a warning, if it is refused"),
    )
