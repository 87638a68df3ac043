"""Faults that let a program change files that exist in other directories."""

import backend.landlock as landlock
from backend.landlock import Landlock
from faults.backend.env_values import landlock_alone
from faults.registry import fault, replaces


@fault("BACKEND-WRITE-01", "files that exist in /dev/shm can be changed", "a list of devices")
def files_in_dev_shm_can_be_written():
    landlock_alone()
    landlock.DEVICES = (*landlock.DEVICES, b"/dev/shm")


@fault("BACKEND-WRITE-01", "files in /tmp can be removed and replaced", "no right to create files")
def files_in_tmp_can_be_removed():
    landlock_alone()

    @replaces(Landlock)
    def ruleset(original, self, root, profile):
        made = original(self, root, profile)
        made["paths"].append(
            (b"/tmp", landlock.WRITE_FILE | 1 << 5 | self.rights(self.abi()) & landlock.REFER)
        )
        return made
