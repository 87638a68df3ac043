"""PROCESS-LEAK: many handles leave no descriptor, process, thread or memory.

With `--stress` there are two thousand cycles.
"""

from __future__ import annotations

from itertools import chain

from boxspec.api import NotApplicable, NotMeasured, ShimProcess, at_most, expect, requires
from boxspec.subject.case import Message
from contracts.process.client import ProcessCase, Script, Step, handle, step
from contracts.process.judging import CAT, Pause, shell
from contracts.shared.files import script_at
from contracts.shared.moments import until

# A growth of less than one per cycle is not a leak, because the script itself has threads and
# descriptors.
FEW = 8
MEMORY_KIB = 8 * 1024
DOUBT_KIB = 256
# Each group has this member, which must end together with the group.
MEMBER = "sleep 60 </dev/null >/dev/null 2>&1 & exec cat"
COUNTED = ("descriptors", "threads", "zombies")


def resources_of(shim: ShimProcess[Script]) -> dict[str, int]:
    status = shim.at_rest()
    return {
        "descriptors": status.fd_count,
        "threads": status.threads,
        "zombies": sum(not each.alive for each in shim.descendants()),
        "KiB": int(status["VmRSS"].split()[0]),
    }


def growth_since(shim: ShimProcess[Script], first: dict[str, int]) -> dict[str, int]:
    """Return the growth of the counts. If a growth is large, wait a moment for a smaller value.

    The shim may still be opening a handle, with both ends of each pipe. A real leak does not
    disappear.
    """
    more = dict[str, int]()

    def few() -> bool:
        more.update({what: count - first[what] for what, count in resources_of(shim).items()})
        return all(more[what] <= FEW for what in COUNTED)

    until(few, 5)
    return more


def cycles(count: int) -> Step:
    """Return the steps of one cycle. A cycle ends a handle in each possible way."""
    talk = [step("write", data=b"x\n"), step("read_until", stream="stdout", until=b"\n")]
    ways = [[step("close")], [step("close_stdin"), step("wait")], [step("kill"), step("wait")], []]
    inner = [each for way in ways for each in (step("open"), *talk, *way, step("drop"))]
    return step("repeat", count=count, steps=inner)


def grown(case: ProcessCase, many: int, within_s: float) -> dict[str, int]:
    """Return the growth of a caller during `many` cycles."""
    before, behind = Pause(case, f"before-{many}"), Pause(case, f"behind-{many}")
    handles = {"a": shell(MEMBER), **{each.name: each.handle for each in (before, behind)}}
    steps = [cycles(5), *before.steps, cycles(many), *behind.steps]
    with case.process.start(handles, steps, within_s=within_s + 20) as shim:
        before.reached(within_s)
        first = resources_of(shim)
        before.go_on()
        behind.reached(within_s)
        more = growth_since(shim, first)
        behind.go_on()
        seen = shim.finish()
    told = seen.steps[3]
    expect("cycles that were made", told.get("repeated"), many, verdict="unproven")
    ends = [each for each in told["last"] if "exited" in each or "signaled" in each]
    wanted = [{"exited": 0}, {"signaled": "SIGKILL"}]
    expect("how the children ended, as the waits report it", ends[1:], wanted)
    return more


# Numbers of cycles, each with a time limit in seconds. If the memory does not grow clearly in the
# first cycles, the other numbers are skipped.
LOOKS = ((25, 60.0), (200, 240.0), (600, 600.0))
LONG_LOOKS = ((500, 300.0), (1500, 900.0))


# A shim without `close` cannot run these cycles.
@requires(
    "PROCESS-LEAK-01",
    stress=20,
    overlap=2.0,
    needs=["PROCESS-DROP-01", "PROCESS-CLOSE-01", "PROCESS-KILL-02"],
)
def test_cycles_leak_nothing(case: ProcessCase) -> None:
    # A cycle has four handles. A heap stops growing at some size, but a leak grows with the number
    # of cycles. The test fails if more than about 3.5 KiB per handle are leaked.
    before = 0.0
    for many, within_s in LONG_LOOKS if case.stress else LOOKS:
        more = grown(case, many, within_s)
        for what in COUNTED:
            expect(f"{what} in the caller more than before", more[what], at_most(FEW))
        if more["KiB"] <= DOUBT_KIB or more["KiB"] / many < before / 2:
            return
        before = more["KiB"] / many
    expect("growth of the caller's memory, in KiB", more["KiB"], at_most(MEMORY_KIB))


def unopenable(case: ProcessCase) -> list[Message]:
    """Return one handle for each way in which an open can fail."""
    plain = script_at(case.tmp / "plain", "exit 0", mode=0o644)
    headless = case.tmp / "headless"
    headless.write_text("#!/no/such/interpreter\n")
    headless.chmod(0o755)
    nowhere = handle("/bin/true")
    nowhere["request"]["current_dir"] = str(case.tmp / "missing")
    return [
        handle("/boxspec/no/such"),
        handle("boxspec-no-such", stdin=2, stdout=2, stderr=2),
        handle(str(plain)),
        handle(str(headless)),
        handle("/bin/true", stdout=3),
        nowhere,
    ]


@requires("PROCESS-LEAK-02", needs=["PROCESS-OPEN-02", "PROCESS-OPEN-03", "PROCESS-CHILD-01"])
def test_failed_opens_leak_nothing(case: ProcessCase) -> None:
    # Each kind of failure is repeated so often that a table of 64 entries would be full.
    ways, rounds = unopenable(case), 15
    names = [[f"{n}-{i}" for i in range(len(ways))] for n in range(rounds)]
    before, behind = Pause(case, "before"), Pause(case, "behind")
    handles = {name: way for each in names for name, way in zip(each, ways, strict=True)}
    handles |= {each.name: each.handle for each in (before, behind)}
    opens = [[step("open", name) for name in each] for each in names]
    first, more = chain(*opens[:2]), chain(*opens[2:])
    last = {"last": handle("/bin/true")}
    steps = [
        *first,
        *before.steps,
        *more,
        *behind.steps,
        step("open", "last"),
        step("wait", "last"),
    ]
    with case.process.start(handles | last, steps, within_s=120) as shim:
        before.reached(60)
        had = resources_of(shim)
        before.go_on()
        behind.reached(60)
        grown = growth_since(shim, had)
        behind.go_on()
        seen = shim.finish()
    failed = sum("error" in each for each in seen.steps)
    expect("opens that failed", failed, rounds * len(ways), verdict="unproven")
    for what in COUNTED:
        expect(f"{what} in the caller more than before", grown[what], at_most(FEW))
    expect("an `open` after all failed ones", seen.steps[-1], {"exited": 0})


def uses_of_options(case: ProcessCase) -> tuple[dict[str, Message], list[Step]]:
    """Return handles with each option, and the steps of each option with each end."""
    gone = handle("/boxspec/no/such", stdin=2, stderr=2)
    nowhere = handle("/bin/true", stdin=2)
    nowhere["request"]["current_dir"] = str(case.tmp / "missing")
    handles = {
        "piped": handle(CAT),
        "null": handle("/bin/sleep", ["60"], stdin=2, stdout=2, stderr=2),
        "nonblocking": handle(CAT, nonblocking=True),
        # This process ends only by SIGKILL.
        "ignores": shell("trap '' TERM; echo x; while :; do sleep 60; done"),
        "short": handle("/bin/true", stdout=2),
        # When this process ends, a writer outside the group remains for a moment.
        "detached": shell("setsid sleep 0.2 & exit 0"),
        "gone": gone,
        "nowhere": nowhere,
    }
    kills: list[list[Step]] = [
        [
            step("open", "piped"),
            step("take", "piped", stream="stdin"),
            step("take", "piped", stream="stderr"),
        ],
        [step("open", "piped"), step("wait", "piped", timeout_ms=1), step("poll", "piped")],
        [step("open", "null"), step("wait", "null", timeout_ms=1), step("close", "null")],
        [step("open", "null"), step("kill", "null"), step("wait", "null")],
        [step("open", "nonblocking"), step("close", "nonblocking")],
        [
            step("open", "ignores"),
            step("read_until", "ignores", stream="stdout", until=b"\n"),
            step("close", "ignores", grace_ms=1),
        ],
        [step("open", "short"), step("wait", "short"), step("close", "short")],
        [step("open", "detached"), step("wait", "detached"), step("close", "detached")],
        [step("open", "piped"), step("take", "piped", stream="stdout")],
        [step("open", "nonblocking"), step("take", "nonblocking", stream="stderr")],
    ]
    steps = [each for way in kills for each in (*way, step("drop", way[0]["handle"]))]
    # A repeated group of steps would end at its first error. So each failing open is a separate
    # step.
    return handles, steps


# The number of rounds, and the number of descriptors that a script may keep for itself. The first
# is greater, so that a leak is noticed.
ROUNDS, KEPT = 14, 8


@requires(
    "PROCESS-LEAK-01", overlap=2.0, needs=["PROCESS-DROP-01", "PROCESS-CLOSE-01", "PROCESS-TAKE-01"]
)
def test_each_option_leaks_nothing_however_a_process_ends(case: ProcessCase) -> None:
    handles, inner = uses_of_options(case)
    before, after = Pause(case, "before"), Pause(case, "after")
    handles |= {each.name: each.handle for each in (before, after)}
    failed = [step("open", name) for name in ("gone", "nowhere") for _ in range(ROUNDS)]
    steps = [step("repeat", count=2, steps=inner), step("open", "gone"), step("open", "nowhere")]
    steps += [*before.steps, step("repeat", count=ROUNDS, steps=inner), *failed, *after.steps]
    with case.process.start(handles, steps, within_s=40) as shim:
        before.reached(20)
        first = shim.at_rest()
        before.go_on()
        after.reached(20)
        until(lambda: shim.at_rest().fd_count - first.fd_count <= KEPT, 2)
        last = shim.at_rest()
        zombies = [each for each in shim.descendants() if not each.alive]
        after.go_on()
        seen = shim.finish()
    expect("number of rounds that ran", seen.steps[5].get("repeated"), ROUNDS, verdict="unproven")
    grown = (last.fd_count - first.fd_count, last.threads - first.threads, len(zombies))
    expect(
        "growth of descriptors and threads, and zombies", max(grown), at_most(KEPT), {"each": grown}
    )


# The search ends at this number of descriptors: each shim that can start with few descriptors can
# start with this number.
MOST_DESCRIPTORS = 40


@requires("PROCESS-LEAK-02", overlap=3.0, needs=["PROCESS-OPEN-03"])
def test_an_open_without_descriptors_is_an_error_and_leaves_nothing(case: ProcessCase) -> None:
    if case.process.inside.name is not None:
        raise NotApplicable("a sandbox needs more descriptors than this test leaves")
    said: list[str] = []
    for limit in range(5, MOST_DESCRIPTORS):
        # If the child were wrongly left, it would still be alive.
        seen = case.process.script(
            {"a": handle("/bin/sleep", ["60"])},
            [step("open"), step("kill"), step("wait", timeout_ms=5000)],
            state=["--nofile", str(limit)],
            expect_result=False,
        )
        if not seen.ok:
            continue  # the shim itself does not start
        opened, ended = seen.steps[0], seen.steps[2]
        left = [each.describe() for each in (*seen.survivors, *seen.zombies)]
        kind = opened.get("error", {}).get("kind")
        right = kind == "execution" or ended == {"signaled": "SIGKILL"}
        if left or not right:
            expect(f"an open with {limit} descriptors", (opened, ended, left), "an error or an end")
        said.append(kind or "ended")
        if said[-4:] == ["ended"] * 4:
            return
    raise NotMeasured(f"the shim needs more than {MOST_DESCRIPTORS} descriptors: {said}")
