"""The first program inside the sandbox.

It runs as `python3 -I -S -c THIS SPEC PROGRAM ARG…`, because a file of the kit may not exist
inside. For the same reason it imports nothing from the kit.

The steps in order: a new session, no descriptor above 2, no capability, no new privileges, a check
of the mounts, the Landlock ruleset, the filter, the program.
"""

from __future__ import annotations

import ctypes
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 22, 24, 38
CAPSET = 126
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
PATH_BENEATH = 1
LIBC = ctypes.CDLL(None, use_errno=True)


def call(number: int, *arguments: object) -> int:
    made = [ctypes.c_void_p(each) if isinstance(each, int) else each for each in arguments]
    result = LIBC.syscall(ctypes.c_long(number), *made)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), str(number))
    return int(result)


def new_session() -> None:
    # A process that leads a group cannot make a session. So it forks, and its child makes the
    # session.
    if os.getpid() == os.getsid(0):
        return
    parent = os.getppid()
    try:
        os.setsid()
    except OSError:
        child = os.fork()
        if child:
            forward(child, parent)
        LIBC.prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0)
        os.setsid()


def forward(child: int, parent: int) -> NoReturn:
    """Wait for the child, forward signals to it, and end in the same way.

    If the parent of this process ends first, end the child.
    """
    import signal

    def pass_on(number: int, _: object) -> None:
        try:
            os.kill(child, number)
        except ProcessLookupError:
            pass

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, pass_on)
    if ends_first(parent, child):
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        if os.WTERMSIG(status) != signal.SIGKILL:
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status) & 255)


def ends_first(parent: int, child: int) -> bool:
    """Wait for the end of one of the two processes. Return True if it is the parent.

    PR_SET_PDEATHSIG cannot replace this: it reacts to the end of the thread that has forked.
    """
    import select

    poll = select.poll()
    try:
        above, below = os.pidfd_open(parent), os.pidfd_open(child)
    except ProcessLookupError:
        return True  # the child is not reaped yet, so the missing process is the parent
    except OSError:
        return False
    poll.register(above, select.POLLIN)
    poll.register(below, select.POLLIN)
    return below not in dict(poll.poll())


def close_descriptors() -> None:
    os.closerange(3, 65536)


def check_mount(read_only: bool, file: tuple[int, int] | None, place: bytes) -> None:
    """Raise OSError unless this place, and not a link, has the planned mount (see planned.py)."""
    fd, above = os.open("/", os.O_PATH), ""
    for name in place.strip(b"/").split(b"/"):
        try:
            below = os.open(name, os.O_PATH | os.O_NOFOLLOW, dir_fd=fd)
        except PermissionError:
            return  # The program cannot reach the place either.
        finally:
            above = mount_id(fd)
            os.close(fd)
        fd = below
    found, kept = os.fstat(fd), os.fstatvfs(fd).f_flag & os.ST_RDONLY
    is_root = mount_id(fd) != above
    os.close(fd)
    is_planned = file is None or file == (found.st_dev, found.st_ino)
    if not is_root or not is_planned or (read_only and not kept):
        raise OSError(f"{os.fsdecode(place)} was replaced during the start")


def check_mounts(text: str) -> None:
    import base64
    import zlib

    for mount in eval(zlib.decompress(base64.b64decode(text)), {}):
        check_mount(*mount)


def mount_id(fd: int) -> str:
    with open(f"/proc/self/fdinfo/{fd}") as file:
        return next(line for line in file if line.startswith("mnt_id:"))


def drop_capabilities() -> None:
    for number in range(64):
        if LIBC.prctl(PR_CAPBSET_DROP, number, 0, 0, 0) < 0:
            break
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)
    call(CAPSET, ctypes.byref(head), ctypes.byref((ctypes.c_uint32 * 6)()))


def no_new_privileges() -> None:
    LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def restrict(ruleset: dict[str, Any]) -> None:
    head = (ctypes.c_uint64 * 3)(*ruleset["handled"])
    fd = call(CREATE_RULESET, ctypes.byref(head), ruleset["size"], 0)
    for path, access in ruleset["paths"]:
        try:
            # A program of an earlier call may have put a link at this path.
            if os.path.realpath(path) != path:
                continue
            beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        # The struct landlock_path_beneath_attr is packed. It has 12 bytes.
        rule = access.to_bytes(8, "little") + beneath.to_bytes(4, "little")
        call(ADD_RULE, fd, PATH_BENEATH, rule, 0)
        os.close(beneath)
    call(RESTRICT_SELF, fd, 0)
    os.close(fd)


def install(code: bytes) -> None:
    class Program(ctypes.Structure):
        _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_char_p)]

    program = Program(len(code) // 8, code)
    if LIBC.prctl(PR_SET_SECCOMP, 2, ctypes.byref(program), 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "seccomp")


def main() -> None:
    spec = eval(sys.argv[1], {})
    for step in spec["steps"]:
        globals()[step]()
    mounts, words = sys.argv[2 : 2 + spec["mounts"]], sys.argv[2 + spec["mounts"] :]
    if mounts:
        check_mounts("".join(mounts))
    if spec["ruleset"] is not None:
        restrict(spec["ruleset"])
    if spec["filter"] is not None:
        install(spec["filter"])
    # The interpreter ignores these signals, and the program would inherit this. So restore the
    # default.
    import signal

    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    program = [os.fsencode(word) for word in words]
    if spec["packed"]:
        program = [word for each in program for word in eval(each, {})]
    env = given_environment()
    if env is None:
        os.execvp(program[0], program)
    else:
        os.execvpe(program[0], program, env)


def given_environment() -> dict[bytes, bytes] | None:
    """Return the environment of the program, which inside.py has packed into variables."""
    parts: list[bytes] = []
    while (part := os.environb.get(b"SANDBOX_ENV_%d" % len(parts))) is not None:
        parts.append(part)
    return dict(eval(b"".join(parts), {})) if parts else None


try:
    main()
except OSError as why:
    os.write(2, f"sandbox: {why}\n".encode())
    os._exit(126)
