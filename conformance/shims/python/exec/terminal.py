"""Lend the caller's controlling terminal to a child that has it as standard input.

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
lender = _thread.allocate_lock()  # held by a run while its child has the terminal


class Terminal:
    """The terminal of one run.

    fd: the descriptor that the child inherits as standard input; -1 if it inherits none.
    """

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.inherited = self.foreground() is not None
        self.lent = False

    def foreground(self) -> int | None:
        """Return the foreground group; None if fd is not the controlling terminal."""
        try:
            return os.tcgetpgrp(self.fd)
        except OSError:
            return None

    def lend(self) -> None:
        """Lend the terminal, before the fork.

        Does nothing in the background, or if another run has the terminal.
        """
        if self.foreground() == os.getpgrp() and lender.acquire(False):
            self.lent = True

    def enter_foreground(self) -> None:
        """Make the child's group the foreground group.

        Called in the child, with SIGTTOU blocked.
        """
        if self.lent:
            try:
                os.tcsetpgrp(self.fd, os.getpgrp())
            except OSError:
                pass  # the parent notices the stop that follows

    def check_stop(self, group: Group) -> int | None:
        """Return the signal of a stop that would last for ever; continue other stops at once."""
        number = group.leader_stop() if self.inherited else None
        if number in DENIED and not self.lend_now(group):
            return number
        if number in DENIED or (number == _signal.SIGTSTP and self.lent):
            group.signal(_signal.SIGCONT)
        return None

    def lend_now(self, group: Group) -> bool:
        """Lend the terminal now: since the start the caller may have come to the foreground, or
        another run may have ended."""
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
        """Take the terminal back, once after the run or a failed start.

        If a shell has taken it, the shell keeps it.
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
