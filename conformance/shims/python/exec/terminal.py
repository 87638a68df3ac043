"""Lend the caller's controlling terminal to a child whose standard input it is.

A process group that is not in the foreground is stopped when it reads from its terminal. So the
child's group is the foreground group during the run.
"""

from __future__ import annotations

import _signal
import _thread
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from exec.group import Group

DENIED = (_signal.SIGTTIN, _signal.SIGTTOU)
lender = _thread.allocate_lock()  # a run holds this lock while its child has the terminal


class Terminal:
    """The terminal of one run.

    fd: the descriptor that the child inherits as standard input; -1 if it inherits none.
    """

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.inherited = self.foreground() is not None
        self.lent = False

    def foreground(self) -> int | None:
        """Return the foreground group, or None if fd is not the controlling terminal."""
        try:
            return os.tcgetpgrp(self.fd)
        except OSError:
            return None

    def lend(self) -> None:
        """Lend the terminal, before the fork.

        If the caller is in the background, or another run has the terminal, do nothing.
        """
        if self.foreground() == os.getpgrp() and lender.acquire(False):
            self.lent = True

    def enter_foreground(self) -> None:
        """Make the child's group the foreground group.

        This runs in the child, with SIGTTOU blocked.
        """
        if self.lent:
            try:
                os.tcsetpgrp(self.fd, os.getpgrp())
            except OSError:
                pass  # the child will be stopped, and the parent notices the stop

    def check_stop(self, group: Group) -> int | None:
        """Return the signal if a stop would last for ever. Continue the leader after other
        stops."""
        number = group.leader_stop() if self.inherited else None
        if number in DENIED and not self.lend_now(group):
            return number
        if number in DENIED or (number == _signal.SIGTSTP and self.lent):
            group.signal(_signal.SIGCONT)
        return None

    def lend_now(self, group: Group) -> bool:
        """Lend the terminal during the run.

        The caller may have come to the foreground since the start, or another run may have ended.
        """
        claimed = not self.lent and lender.acquire(False)
        foreground = self.foreground()
        good = (self.lent or claimed) and foreground in (group.leader, os.getpgrp())
        if good:
            self.set_foreground(group.leader)
        if claimed and not good:
            lender.release()
        self.lent = self.lent or good
        return good

    def set_foreground(self, group: int) -> None:
        mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGTTOU,))
        try:
            os.tcsetpgrp(self.fd, group)
        except OSError:
            pass
        finally:
            _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)

    def take_back(self) -> None:
        """Take the terminal back after the run or a failed start.

        If a shell has taken the terminal, the shell keeps it. A second call has no effect.
        """
        if not self.lent:
            return
        if self.foreground() not in (None, os.getpgrp(), shell_group()):
            self.set_foreground(os.getpgrp())
        self.lent = False
        lender.release()


def shell_group() -> int | None:
    try:
        return os.getpgid(os.getppid())
    except OSError:
        return None
