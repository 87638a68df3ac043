"""A process group that this program has made.

Find its members, signal them, and notice their end.
"""

from __future__ import annotations

import _signal
import os
from time import CLOCK_BOOTTIME, clock_gettime_ns, monotonic_ns

import constants

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
PIDFD_SIGNAL_PROCESS_GROUP = 4

End = tuple[int, int]  # si_code and si_status, as waitid reports them


class Member:
    """A process, parsed from /proc/PID/stat."""

    def __init__(self, line: bytes) -> None:
        # The fields are counted from the last parenthesis: the name is in parentheses, and may
        # itself contain blanks and parentheses.
        fields = line[line.rindex(b")") + 2 :].split()
        self.pid = int(line[: line.index(b" ")])
        self.state = fields[0]
        self.ppid = int(fields[1])
        self.pgid = int(fields[2])
        self.threads = int(fields[17])
        self.born_tick = int(fields[19])

    def alive(self) -> bool:
        """True if the process still runs.

        A process in state Z still runs if it has other threads: then only its main thread has
        ended.
        """
        return self.state not in b"ZXx" or self.threads > 1


def proc_is_ours() -> bool:
    """True if the numbers in /proc are those of the PID namespace of this process."""
    try:
        return os.readlink("/proc/self") == str(os.getpid())
    except OSError:
        return False


def processes() -> Iterator[Member]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                fd = os.open(f"/proc/{name}/stat", os.O_RDONLY)
            except OSError:
                continue
            try:
                yield Member(os.read(fd, 4096))
            except OSError:
                continue
            finally:
                os.close(fd)


class Group:
    """A process group and its leader.

    Only reap() reaps the leader. Until then its zombie prevents that its number is used again.
    """

    def __init__(self, leader: int) -> None:
        self.leader = leader
        self.reaped_tick: int | None = None
        try:
            self.pidfd = os.pidfd_open(leader)
        except OSError:
            # the kernel is too old, a filter refuses the call, or no descriptor is free; run.py
            # then checks the leader at each tick
            self.pidfd = -1

    def signal(self, number: int) -> None:
        if self.leader <= 1 or self.leader == os.getpgrp():
            raise AssertionError("no run has started this group, so it receives no signal")
        try:
            os.killpg(self.leader, number)
        except (ProcessLookupError, PermissionError):
            pass

    def kill(self) -> None:
        self.signal(_signal.SIGKILL)
        try:
            os.kill(self.leader, _signal.SIGKILL)  # the leader may have joined another group
        except (ProcessLookupError, PermissionError):
            pass

    def kill_by_pidfd(self) -> None:
        """Kill the group by the pidfd of its leader. Another process has reaped the leader.

        So the number of the group may belong to another group. The pidfd still refers to the old
        one.
        """
        if self.pidfd >= 0:
            try:
                _signal.pidfd_send_signal(
                    self.pidfd, _signal.SIGKILL, None, PIDFD_SIGNAL_PROCESS_GROUP
                )
            except OSError:
                pass

    def leader_end(self) -> End | None:
        """Return how the leader ended, as (si_code, si_status), without reaping it.

        Return None while the leader runs.
        """
        info = os.waitid(os.P_PID, self.leader, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return None if info is None else (info.si_code, info.si_status)

    def leader_stop(self) -> int | None:
        """Return the signal that has stopped the leader since the last call.

        Return None if no signal has stopped it.
        """
        try:
            info = os.waitid(os.P_PID, self.leader, os.WSTOPPED | os.WNOHANG)
        except ChildProcessError:
            return None
        return None if info is None else info.si_status

    def is_ours(self, member: Member) -> bool:
        # After the leader is reaped, a new group may get the same number. Members of the new group
        # have started later.
        return member.pgid == self.leader and (
            self.reaped_tick is None or member.born_tick <= self.reaped_tick
        )

    def alive(self) -> list[int]:
        """Return the members that still run.

        Zombies among them that are children of this process are reaped.
        """
        if not proc_is_ours():
            return []
        # Look twice: if a member forks and ends during the first look, the look may miss both the
        # member and its child.
        return self._look() or self._look()

    def _look(self) -> list[int]:
        found = []
        for member in processes():
            if not self.is_ours(member):
                continue
            if member.alive():
                found.append(member.pid)
            elif member.ppid == os.getpid() and member.pid != self.leader:
                self.collect(member.pid)
        return found

    def collect(self, pid: int) -> None:
        try:
            os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            pass

    def close(self) -> None:
        if self.pidfd >= 0:
            os.close(self.pidfd)
            self.pidfd = -1

    def reap(self) -> None:
        self.collect(self.leader)
        self.reaped_tick = clock_gettime_ns(CLOCK_BOOTTIME) * TICKS_A_SECOND // 1_000_000_000

    def exists(self) -> bool:
        """True unless the kernel reports that no such group exists.

        Call it after the leader was reaped.
        """
        try:
            os.killpg(self.leader, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return True


class Ending:
    """Waits until the last member of a group has ended. It polls the pidfd of one member at a
    time."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.fd = -1
        self.members: list[int] = []
        self.next_look = 0

    def left(self, fired: bool) -> list[int]:
        now = monotonic_ns()
        if fired or now >= self.next_look:
            self.close()
            self.members = self.group.alive()
            self.next_look = now + constants.TICK_NS
            if self.members:
                try:
                    self.fd = os.pidfd_open(self.members[0])
                except ProcessLookupError:
                    # list the members again, because the member ended after it was listed
                    self.next_look = now
                except OSError:
                    pass
        return self.members

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
