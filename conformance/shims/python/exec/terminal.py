"""The caller's controlling terminal as the standard input of a child.

A group that is not in the foreground is stopped when it reads from its terminal, so the child's
group becomes the foreground group for the time of the run.
"""

from __future__ import annotations

import _signal
import _thread
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from exec.group import Group

DENIED = (_signal.SIGTTIN, _signal.SIGTTOU)
lender = _thread.allocate_lock()  # held by the run whose child has the terminal


class Terminal:
    """fd: what the child inherits as standard input, -1 if it inherits nothing."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.inherited = self.foreground() is not None
        self.lent = False

    def foreground(self) -> int | None:
        """The foreground group; None unless this is the controlling terminal."""
        try:
            return os.tcgetpgrp(self.fd)
        except OSError:
            return None

    def lend(self) -> None:
        """Before the fork. Does nothing in the background, or if another run has the terminal."""
        if self.foreground() == os.getpgrp() and lender.acquire(False):
            self.lent = True

    def enter_foreground(self) -> None:
        """In the child, with SIGTTOU blocked."""
        if self.lent:
            try:
                os.tcsetpgrp(self.fd, os.getpgrp())
            except OSError:
                pass  # the stop that follows is seen by the parent

    def check_stop(self, group: Group) -> int | None:
        """Return the signal of a stop that nothing would end; continue other stops at once."""
        number = group.leader_stop() if self.inherited else None
        if number in DENIED and not self.lend_now(group):
            return number
        if number in DENIED or (number == _signal.SIGTSTP and self.lent):
            group.signal(_signal.SIGCONT)
        return None

    def lend_now(self, group: Group) -> bool:
        """The caller may have come to the foreground since, and another run may have ended."""
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
        """Once, after the run or a failed spawn. A shell that took the terminal keeps it."""
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
