"""The client of the contract process, and its cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, TypedDict, Unpack, cast

from boxspec.programs import programs
from boxspec.subject.case import Case, Message, Options
from boxspec.subject.client.b64 import put_word, put_words, unb64
from boxspec.subject.client.streams import Wish
from boxspec.subject.observed import Error, Observed
from boxspec.subject.shim_process import ShimProcess
from contracts.shared.inside import OF_THE_RUN, Around, Inside, confined, put_inside

Step = dict[str, Any]


END = ("running", "exited", "signaled")
# The fields that the result of a step has if the step has no error, by kind of step.
TOLD: dict[str, tuple[str, ...]] = {
    "open": ("pid",),
    "streams": ("stdin", "stdout", "stderr"),
    "take": ("taken",),
    "write": ("written", "errno"),
    "read_until": ("data_b64", "eof"),
    "read_eof": ("bytes", "sha256", "data_b64"),
    "poll": END,
    "wait": END,
    "close": (*END, "detached_writers"),
    "repeat": ("repeated", "last"),
}


class StepResult(TypedDict, total=False):
    """The result of a step; each step has some of these fields."""

    pid: int
    stdin: bool
    stdout: bool
    stderr: bool
    taken: bool
    written: int
    errno: str
    data_b64: str
    eof: bool
    bytes: int
    sha256: str
    running: bool
    exited: int
    signaled: str
    detached_writers: bool
    repeated: int
    last: list[dict[str, Any]]
    error: Error


class ScriptResult(TypedDict, total=False):
    """The result of process.script."""

    steps: list[dict[str, Any]]
    enforcement: str
    enforcement_reasons: list[str]


class BridgeResult(TypedDict, total=False):
    """The result of process.bridge."""

    exited: int
    signaled: str
    enforcement: str
    enforcement_reasons: list[str]


class Script(Observed):
    """The answer to one process.script, and the observations from outside."""

    @property
    def result(self) -> ScriptResult:
        return cast(ScriptResult, super().result)

    @property
    def steps(self) -> list[StepResult]:
        """Return the result of each step, without fields that the contract does not define."""
        assert isinstance(self.message, dict)
        both = zip(self.message["steps"], self.result["steps"], strict=False)
        return [
            cast(
                StepResult,
                {key: told[key] for key in (*TOLD.get(asked["step"], ()), "error") if key in told},
            )
            for asked, told in both
        ]

    def data(self, index: int) -> bytes:
        """Return the bytes that a step has read."""
        return unb64(self.steps[index].get("data_b64", ""))


class Bridge(Observed):
    """The answer to one process.bridge, and the observations from outside."""

    @property
    def result(self) -> BridgeResult:
        return cast(BridgeResult, super().result)

    @property
    def how(self) -> dict[str, Any]:
        """Return how the child ended. Fields about the sandbox are left out."""
        return {key: self.result[key] for key in ("exited", "signaled") if key in self.result}


class RequestFields(TypedDict, total=False):
    """The fields of a request besides the program and its arguments."""

    current_dir: str
    env: Mapping[str, Any]


def request(program: str, args: Sequence[Any] = (), **fields: Unpack[RequestFields]) -> Message:
    made: Message = {}
    put_word(made, "program", program)
    put_words(made, "args", [str(word) for word in args])
    return {**made, **fields}


def handle(program: str, args: Sequence[Any] = (), **options: Any) -> Message:
    """Return a handle for the request.

    options: `stdin`, `stdout`, `stderr` (0, 1 or 2) and `nonblocking`.
    """
    return {"request": request(program, args), **options}


def step(name: str, on: str = "a", **fields: Any) -> Step:
    made: Step = {"step": name}
    if name not in ("join", "repeat"):
        made["handle"] = on
    for key, value in fields.items():
        if isinstance(value, bytes):
            put_word(made, key, value)
        else:
            made[key] = value
    return made


class ScriptOptions(Options, total=False):
    """Options for starting the shim process of a script."""

    backend: Around
    stdout: Wish
    stderr: Wish


class BridgeOptions(ScriptOptions, total=False):
    """Options for starting the shim process of a bridge."""

    fields: RequestFields | None
    stdin: Wish


class ProcessClient:
    def __init__(self, case: Case) -> None:
        self._case = case
        self.inside = Inside(case, "process")

    def ends(self, code: int) -> tuple[Mapping[str, Message], list[Step]]:
        """Return a script whose child exits with this code."""
        return {"a": handle(programs.exit_with, [code])}, [step("open"), step("wait")]

    def start(
        self,
        handles: Mapping[str, Message],
        steps: Sequence[Step],
        *,
        backend: Around = OF_THE_RUN,
        stdout: Wish = None,
        stderr: Wish = None,
        **options: Unpack[Options],
    ) -> ShimProcess[Script]:
        message = {"op": "process.script", "handles": dict(handles), "steps": list(steps)}
        message |= self.inside.around(backend)
        return self._case.launch(
            message,
            confined(Script) if put_inside(message, backend) else Script,
            child=True,
            streams={"stdout": stdout, "stderr": stderr},
            **options,
        )

    def script(
        self,
        handles: Mapping[str, Message],
        steps: Sequence[Step],
        **options: Unpack[ScriptOptions],
    ) -> Script:
        with self.start(handles, steps, **options) as shim:
            return shim.finish()

    def start_bridge(
        self,
        program: str,
        args: Sequence[Any] = (),
        *,
        fields: RequestFields | None = None,
        backend: Around = OF_THE_RUN,
        stdin: Wish = None,
        stdout: Wish = None,
        stderr: Wish = None,
        **options: Unpack[Options],
    ) -> ShimProcess[Bridge]:
        message = {"op": "process.bridge", "request": request(program, args, **(fields or {}))}
        message |= self.inside.around(backend)
        return self._case.launch(
            message,
            confined(Bridge) if put_inside(message, backend) else Bridge,
            child=True,
            streams={"stdin": stdin, "stdout": stdout, "stderr": stderr},
            **options,
        )

    def bridge(
        self, program: str, args: Sequence[Any] = (), **options: Unpack[BridgeOptions]
    ) -> Bridge:
        with self.start_bridge(program, args, **options) as shim:
            return shim.finish()


class ProcessCase(Case):
    """A case of the contract process."""

    @cached_property
    def process(self) -> ProcessClient:
        return ProcessClient(self)
