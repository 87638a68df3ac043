"""What is written beside a file's content."""

import pytest

from boxspec.api import Box, requires
from contracts.backend.attempt import attempt

PROBES = (
    *("w_chmod", "w_fchmodat2", "w_fchmod_rdonly", "w_chown", "w_utimes", "w_setxattr"),
    *("w_removexattr", "w_setxattrat", "w_ioctl_setflags"),
)


@requires("BACKEND-META-01")
@pytest.mark.parametrize("probe", PROBES)
def test_metadata_outside_stays(box: Box, probe: str) -> None:
    attempt(box, probe)
