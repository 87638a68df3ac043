"""Show how a library finds and starts a command, and which state the command inherits."""

import os
import signal
from pathlib import Path

from scene import (
    NOBODY,
    Call,
    NotTried,
    call,
    ignored,
    ignoring,
    opened,
    script,
    shell,
    strace,
    tries,
)


@tries("EXEC-SPAWN-03")
def a_text_file():
    told = call([script("text", "echo handed over\n")])
    return "error" not in told, told


@tries("EXEC-SPAWN-07")
def names_of_variables():
    told = {name: call(["/usr/bin/env"], env=[[name, "x"]]) for name in ("", "=a", "a=b")}
    passed = {name: each["out"].strip() for name, each in told.items() if "error" not in each}
    return passed != {}, {"passed on": passed}


@tries("EXEC-SPAWN-09")
def words_of_a_spawn_failure():
    told = call(["/no/such/program"])
    words = told.get("error", "")
    return "`/no/such/program`" not in words, told


@tries("EXEC-SPAWN-14")
def clone3_with_eperm():
    told = call(["/bin/echo", "hi"], before=strace("clone3", "-f"))
    if "clone3" not in Path("trace").read_text():
        raise NotTried("there was no clone3")
    return "error" in told, told


@tries("EXEC-SPAWN-15")
def threads_that_a_limit_refuses():
    """Try all process limits from 1 on, as a user without other processes."""
    os.chmod(".", 0o755)
    hung = []
    for limit in range(1, 13):
        told = Call(["/bin/true"], before=[*NOBODY, "prlimit", f"--nproc={limit}:{limit}"])
        if not told.is_back(10):
            hung.append(limit)
            told.run.kill()
        told.run.communicate()
    return hung != [], {"does not end within 10 s at a limit of": hung}


@tries("EXEC-PATH-01")
def a_name_in_the_path_of_the_child():
    script("bin/tool", "#!/bin/sh\necho found\n")
    told = call(["tool"], env=[["PATH", os.path.abspath("bin")]])
    return told.get("out") != "found\n", told


@tries("EXEC-PATH-02")
def a_name_without_a_path():
    os.mkdir("empty")
    told = call(["true"], env=[], environ={**os.environ, "PATH": os.path.abspath("empty")})
    return told.get("code") != 0, told


@tries("EXEC-PATH-03")
def candidates_in_order():
    os.mkdir("first")
    os.symlink("tool", "first/tool")
    script("second/tool", "#!/bin/sh\necho second\n")
    script("broken/tool", "#!/no/such/interpreter\n")
    told = {}
    for name in ("first", "broken"):
        path = f"{os.path.abspath(name)}:{os.path.abspath('second')}"
        told[name] = call(["tool"], env=[["PATH", path]], environ={**os.environ, "PATH": path})
    told = {"a link to itself": told["first"], "no interpreter": told["broken"]}
    stops = told["a link to itself"].get("out") != "second\n"
    passes = told["no interpreter"].get("out") == "second\n"
    return stops or passes, told


@tries("EXEC-ENV-01")
def the_environment_of_the_caller():
    os.mkdir("there")
    environ = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "PWD": "/odd"}
    environ["LC_ALL"] = "C.UTF-8"  # set here, because a caller in Python would set it itself
    told = call(["/usr/bin/env"], cwd=os.path.abspath("there"), environ=environ)
    got = dict(line.split("=", 1) for line in told["out"].splitlines())
    changed = {name: value for name, value in got.items() if environ.get(name) != value}
    return changed != {}, {"changed": changed}


@tries("EXEC-CHILD-01")
def who_leads_the_group():
    pid, *rest = call(["/bin/cat", "/proc/self/stat"])["out"].split()
    return rest[3] != pid, {"pid": pid, "group": rest[3]}


@tries("EXEC-CHILD-02")
def the_session():
    session = call(["/bin/cat", "/proc/self/stat"])["out"].split()[5]
    return session != str(os.getsid(0)), {"session": session, "of the caller": os.getsid(0)}


@tries("EXEC-CHILD-03")
def what_the_streams_are():
    told = call(["/bin/readlink", "/proc/self/fd/1"])["out"].strip()
    return not told.startswith("pipe:"), {"stdout": told}


@tries("EXEC-CHILD-06")
def signals_that_the_caller_ignores():
    told = call(["/bin/cat", "/proc/self/status"], setup=ignoring(signal.SIGINT, signal.SIGTERM))
    still = [each.name for each in (signal.SIGINT, signal.SIGTERM) if ignored(told["out"], each)]
    return still != [], {"ignored in the child": still}


@tries("EXEC-CHILD-07")
def another_disposition():
    """Compare the disposition of SIGHUP in the child and in the caller, while the child runs."""
    os.mkfifo("gate")
    line = 'cat /proc/self/status; read x <"$0"'
    run = Call(shell(line, os.path.abspath("gate")), setup=ignoring(signal.SIGHUP))
    gate = opened("gate")
    caller = Path(f"/proc/{run.run.pid}/status").read_text()
    os.close(gate)
    both = (ignored(caller, signal.SIGHUP), ignored(run.answer()["out"], signal.SIGHUP))
    return both[0] != both[1], {"SIGHUP is ignored in the caller, in the child": both}


@tries("EXEC-CHILD-09")
def what_the_caller_left_open():
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.dup2(writer, 9, inheritable=True)
    listed = ["/bin/sh", "-c", "readlink /proc/self/fd/9; grep flags /proc/self/fdinfo/0"]
    out = call(listed, stdin=reader)["out"]
    os.close(9)
    blocks = not int(out.rpartition(":")[2], 8) & os.O_NONBLOCK
    told = {
        "9 is passed on": "pipe:" in out,
        "a stdin that does not block does not in the child": not blocks,
        "nor afterwards": not os.get_blocking(reader),
    }
    return not all(told.values()), told


@tries("EXEC-CHILD-10")
def a_closed_stdin():
    told = call(
        ["/bin/readlink", "/proc/self/fd/0"], before=["/bin/sh", "-c", 'exec "$0" "$@" <&-']
    )
    return told["out"].strip() != "/dev/null", {"stdin of the child": told["out"].strip()}
