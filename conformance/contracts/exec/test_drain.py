"""EXEC-DRAIN: the output is complete, in the right order, and on the right stream."""

from __future__ import annotations

import pytest

from boxspec.api import Blocked, NotMeasured, expect, requires
from boxspec.api import programs as P
from boxspec.subject.observe.lines import poll
from contracts.exec.client import ExecCase
from contracts.exec.host import need_large_pipes
from contracts.exec.spawn_io import digest, hexes, outcome, pattern, shell, stream
from contracts.shared.requests import ExecRequest

MIB = 2**20
# Usual sizes of buffers and of pipes.
EDGES = (1024, 4096, 8192, 65_536, 131_072)


def flooded(case: ExecCase, out: int, err: int, order: str = "out") -> tuple[object, object]:
    """Run `flood`, and return length and digest of both captured streams."""
    within_s = 10 + (out + err) / 5_000_000
    args = [str(out), str(err), "--order", order]
    seen = case.exec.run(program=P.flood, args=args, within_s=within_s)
    return stream(seen, "stdout"), stream(seen, "stderr")


def patterns(out: int, err: int) -> tuple[object, object]:
    return digest(pattern(out, "a")), digest(pattern(err, "A"))


@requires("EXEC-DRAIN-01", pitfalls=["E1"], overlap=3)
def test_50_mb_on_both_streams_stderr_first_arrive(case: ExecCase) -> None:
    size = 50_000_000
    expect("both streams", flooded(case, size, size, "err"), patterns(size, size))


@requires("EXEC-DRAIN-01", pitfalls=["E1"])
@pytest.mark.parametrize(
    ("out", "err", "order"),
    [
        (MIB, MIB, "out"),
        (MIB, MIB, "err"),
        (MIB, MIB, "mix"),
        (3 * MIB, 0, "out"),
        (0, 3 * MIB, "err"),
        (100, MIB, "err"),
        (MIB, 100, "out"),
    ],
    ids=["out-first", "err-first", "mixed", "only-out", "only-err", "little-out", "little-err"],
)
def test_megabytes_in_any_order_arrive(case: ExecCase, out: int, err: int, order: str) -> None:
    expect("both streams", flooded(case, out, err, order), patterns(out, err))


@requires("EXEC-DRAIN-02", pitfalls=["E2"])
@pytest.mark.parametrize(
    "size",
    [
        0,
        1,
        1023,
        1024,
        1025,
        4095,
        4096,
        4097,
        8191,
        8192,
        8193,
        32767,
        32768,
        32769,
        65535,
        65536,
        65537,
        131071,
        131072,
        131073,
    ],
)
def test_output_is_exact_at_the_edges_of_buffers(case: ExecCase, size: int) -> None:
    expect("both streams", flooded(case, size, size, "mix"), patterns(size, size))


# More than 64 MiB, which is a common limit.
@requires("EXEC-DRAIN-02", pitfalls=["E1"], overlap=3)
def test_output_beyond_64_mib_is_complete(case: ExecCase) -> None:
    size = 65 * 2**20 + 4097
    seen = case.exec.run(program=P.flood, args=[str(size), str(size)], within_s=30)
    got = (seen.result["exit_code"], seen.stdout_len, seen.stderr_len)
    expect("exit code and both lengths", got, (0, size, size))


@requires("EXEC-DRAIN-02")
def test_output_in_one_byte_writes_is_complete(case: ExecCase) -> None:
    data = pattern(6000)
    seen = case.exec.run(program=P.emit, args=["--each-byte", *hexes(data)])
    expect("the captured stream", stream(seen, "stdout"), digest(data))


@requires("EXEC-DRAIN-02")
def test_a_digest_has_both_ends_of_its_stream(case: ExecCase) -> None:
    out, err = patterned = (pattern(MIB + 1), pattern(MIB + 70_001, "A"))
    seen = case.exec.run(program=P.flood, args=[*map(str, map(len, patterned)), "--order", "mix"])
    got = (seen.stdout_head, seen.stdout_tail, seen.stderr_head, seen.stderr_tail)
    wanted = (out[:4096], out[-4096:], err[:4096], err[-4096:])
    names = ("stdout's head", "stdout's tail", "stderr's head", "stderr's tail")
    wrong = [name for name, mine, theirs in zip(names, wanted, got, strict=True) if mine != theirs]
    expect("beginnings and ends of the streams that differ from the bytes written", wrong, [])


@requires("EXEC-DRAIN-02")
def test_output_with_pauses_is_complete(case: ExecCase) -> None:
    data = pattern(60)
    seen = case.exec.run(program=P.emit, args=["--each-byte", "--gap-us", "500", *hexes(data)])
    expect("the captured stream", seen.stdout, data)


@requires("EXEC-DRAIN-02", pitfalls=["E5"], stress=20)
@pytest.mark.parametrize("size", [66_890, 65_536 + 4096, 200_001])
def test_the_tail_of_a_child_that_exits_at_once_is_complete(case: ExecCase, size: int) -> None:
    expect("both streams", flooded(case, size, 0), patterns(size, 0))


@requires("EXEC-DRAIN-02", pitfalls=["E5"])
@pytest.mark.parametrize("stream_of", ["stdout", "stderr"])
def test_the_tail_in_a_pipe_that_the_child_enlarged_is_complete(
    case: ExecCase, stream_of: str
) -> None:
    """Check the output if more than one usual read is left in the pipe when the child ends."""
    need_large_pipes(MIB)
    sizes = (MIB, 0) if stream_of == "stdout" else (0, MIB)
    for _ in range(3):
        seen = case.exec.run(program=P.flood, args=[*map(str, sizes), "--pipe", str(MIB)])
        if seen.result["exit_code"] != 0:
            raise NotMeasured("the child could not enlarge its pipes")
        expect("both streams", (stream(seen, "stdout"), stream(seen, "stderr")), patterns(*sizes))


@requires("EXEC-DRAIN-02", pitfalls=["E5"], capability="exec.concurrent", stress=5)
def test_the_tails_of_many_fast_children_are_complete(case: ExecCase) -> None:
    fast: ExecRequest = {"program": P.flood, "args": ["66890", "0"]}
    seen = case.exec.batch([(3 * i, fast) for i in range(16)])
    expect(
        "each captured stream",
        [stream(run, "stdout") for run in seen.runs],
        [digest(pattern(66_890))] * 16,
    )


@requires("EXEC-DRAIN-02", pitfalls=["E1"])
def test_output_of_a_real_program_is_complete(case: ExecCase) -> None:
    seen = case.exec.run(program="seq", args=["1", "20000"])
    wanted = "".join(f"{i}\n" for i in range(1, 20_001)).encode()
    expect("length and digest of stdout", stream(seen, "stdout"), digest(wanted))


@requires("EXEC-DRAIN-03", pitfalls=["E14"])
def test_the_streams_are_kept_apart(case: ExecCase) -> None:
    words = [f"{i:03d}.".encode() for i in range(100)]
    args = [
        word for i, text in enumerate(words) for word in ("--out" if i % 2 else "--err", text.hex())
    ]
    seen = case.exec.run(program=P.emit, args=args)
    expect(
        "stdout and stderr",
        (seen.stdout, seen.stderr),
        (b"".join(words[1::2]), b"".join(words[0::2])),
    )


@requires("EXEC-DRAIN-03", pitfalls=["E14"])
@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_output_on_one_stream_does_not_appear_on_the_other(case: ExecCase, name: str) -> None:
    flag = {"stdout": "--out", "stderr": "--err"}[name]
    seen = case.exec.run(program=P.emit, args=hexes(b"only here", flag=flag))
    expect(
        "stdout and stderr",
        {"stdout": seen.stdout, "stderr": seen.stderr},
        {"stdout": b"", "stderr": b"", name: b"only here"},
    )


@requires("EXEC-DRAIN-04")
@pytest.mark.parametrize(
    ("line", "out", "err"),
    [
        ("exec 1>&-; echo late >&2", b"early\n", b"late\n"),
        ("exec 2>&-; echo late", b"early\nlate\n", b""),
        ("exec 1>&- 2>&-; :", b"early\n", b""),
        ('exec 1>&-; "$1" 0 200000 >&2', b"early\n", pattern(200_000, "A")),
        ('exec 2>&-; "$1" 200000 0', b"early\n" + pattern(200_000), b""),
    ],
    ids=["stdout", "stderr", "both", "stdout-then-much", "stderr-then-much"],
)
def test_a_stream_closed_early_ends_neither_the_other_nor_the_run(
    case: ExecCase, line: str, out: bytes, err: bytes
) -> None:
    seen = case.exec.run(**shell(f"echo early; {line}; exit 3", P.flood))
    expect(
        "how the child ended, and both streams",
        (outcome(seen), seen.stdout, seen.stderr),
        ("exit 3", out, err),
    )


@requires("EXEC-DRAIN-04", pitfalls=["E4"])
def test_a_child_that_closed_both_streams_is_waited_for(case: ExecCase) -> None:
    events, fifo, trace = case.events(), case.fifo("gate"), case.tmp / "trace"
    line = 'exec 1>&- 2>&-; "$1" "$2" "$3"; : >"$4"; exit 4'
    with case.exec.start(**shell(line, P.gate, events.path, fifo, trace)) as shim:
        events.wait("ready")
        case.open_gate(fifo)
        seen = shim.finish()
    expect(
        "how the child ended, and whether it ran to its end",
        (outcome(seen), trace.exists()),
        ("exit 4", True),
    )


@requires("EXEC-DRAIN-10")
def test_signals_that_interrupt_reads_lose_no_byte(case: ExecCase) -> None:
    events, fifo = case.events(), case.fifo("gate")
    # The caller's handler runs for each SIGTERM while the child writes. The child ignores SIGTERM
    # at that time, so that a caller which forwards the signals does not end it.
    line = (
        'trap \'trap "" TERM; "$1" 3000000 0; "$2" "$3" "$4"; exit 0\' TERM; "$2" "$3" "$5" & wait'
    )
    words = (P.flood, P.gate, events.path, fifo, case.fifo("never"))
    with case.exec.start(**shell(line, *words), expect_result=False) as shim:
        events.wait("ready")
        shim.signal("TERM")
        # Send a signal each millisecond until the output is complete. Pending signals merge into
        # one, so they are not sent faster.
        for _ in range(5000):
            if len(events.all("ready")) == 2 or not shim.running:
                break
            shim.signal("TERM")
            poll([events.fileno()], 0.001)
        if shim.running:
            case.open_gate(fifo)
        seen = shim.finish()
    if seen.raw is None:
        raise Blocked(["EXEC-SIGNAL-15"], "the signals end the caller")
    expect("length and digest", stream(seen, "stdout"), digest(pattern(3_000_000)))
