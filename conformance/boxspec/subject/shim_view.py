"""A running shim as an observer sees it: its processes, and its state in /proc."""

from __future__ import annotations

from boxspec.subject.observe import procs
from boxspec.subject.observe.procs import Proc, Status
from boxspec.subject.observe.stamps import Spent, Waited
from boxspec.subject.observe.warden import Warden


class ShimView:
    """Reads the state of a shim process, and changes nothing.

    hold: the fifo at which the shim waits after its answer, or None.
    """

    def __init__(self, warden: Warden, hold: str | None) -> None:
        self.warden = warden
        self._hold = hold

    @property
    def shim_pid(self) -> int:
        return self.warden.shim_pid

    @property
    def t_started_ns(self) -> int:
        return self.warden.t_started_ns

    @property
    def t_ended_ns(self) -> int | None:
        ended = self.warden.shim_exit
        return ended.t_ns if ended else None

    @property
    def running(self) -> bool:
        self.warden.pump()
        return self.warden.shim_exit is None

    @property
    def spent(self) -> Spent | None:
        """Return the total processor and waiting time of a shim that has ended."""
        return self.warden.spent

    def waited(self) -> Waited:
        """Return how long its threads have waited for a processor, until now or until its end."""
        return self.spent.waited if self.spent else procs.waited(self.shim_pid)

    def kept_waiting_ns(self) -> int:
        """Return the longest time that any of the shim's descendants has waited for a processor."""
        return max((procs.waited(proc.pid).ns for proc in self.descendants()), default=0)

    def children(self) -> list[Proc]:
        return self._without_helpers(procs.children(self.shim_pid))

    def tree(self) -> list[Proc]:
        """Return all processes below the shim, except helper processes that hold the fifo.

        An implementation may have processes between itself and the child.
        """
        return self._without_helpers(procs.tree(self.shim_pid))

    def _without_helpers(self, found: list[Proc]) -> list[Proc]:
        """Leave out helper processes (such as `cat`) that hold the fifo for the shim.

        The ancestors of such a helper below the shim are left out too.
        """
        place = self._hold
        if place is None or not found:
            return found
        tree = procs.tree(self.shim_pid)
        waiting = [proc.pid for proc in tree if procs.has_open(proc.pid, place)]
        helpers = {each for pid in waiting for each in procs.lineage(pid, tree)}
        return [proc for proc in found if proc.pid not in helpers]

    def descendants(self) -> list[Proc]:
        """Return all processes below the warden: the shim, its descendants and their orphans."""
        return self.warden.tree()

    def any_process_alive(self) -> bool:
        self.warden.pump()
        return any(proc.alive for proc in self.warden.tree())

    @property
    def bystander_pid(self) -> int | None:
        """Return the process that the flag `--bystander` has started in the shim's group."""
        found = self.warden.wait_report("bystander", 5)
        return int(found[1]) if found else None

    def status(self) -> Status:
        """Return /proc/SHIM/status as a mapping, with `.fd_count`, `.threads` and `.mask`."""
        return Status(self.shim_pid)

    def limits(self, which: int) -> tuple[int, int]:
        """Return the soft and the hard limit of the shim for a resource.RLIMIT_…."""
        return procs.limits(self.shim_pid, which)

    def at_rest(self) -> Status:
        """Return the status when the main thread sleeps. A runtime may change its masks before
        that."""
        return procs.at_rest(self.shim_pid)

    def blocked_at_rest(self) -> set[frozenset[int]]:
        """Return the different signal masks of the shim's threads, when they sleep."""
        return procs.blocked_at_rest(self.shim_pid)

    def wakeups(self) -> int:
        return procs.wakeups(self.shim_pid)

    def cpu_ms(self) -> float:
        return procs.cpu_ms(self.shim_pid)
