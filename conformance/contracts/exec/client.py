"""The client that sends runs. A case has it as `case.exec`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

from boxspec.judge.expect import shown
from boxspec.judge.verdict import Failure, NotApplicable, Verdict
from boxspec.subject.case import WITHIN_S, Case, Message, Options, State
from boxspec.subject.client.streams import Wish
from boxspec.subject.launching import ShimEnv
from boxspec.subject.shim_process import ShimProcess
from contracts.exec.answers import ObservedBatch, ObservedRun
from contracts.shared.inside import Inside, confined, put_inside
from contracts.shared.requests import EnvMode, ExecRequest, env_mode, exec_request, has_bytes

# A run of a batch: the fields of its request, or its start in ms after the first run and these
# fields.
Run = tuple[int, ExecRequest] | ExecRequest


class BatchOptions(Options, total=False):
    """Options for starting the shim process of several runs."""

    shim_stdin: Wish
    shim_stdout: Wish
    shim_stderr: Wish


class RunOptions(BatchOptions, ExecRequest, total=False):
    """The options of one run: those for starting its shim process, and the fields of its
    request."""

    sandbox: Mapping[str, Any] | None
    old_request: bool
    stdin_file: Wish


def _deadline_ms(*requests: Mapping[str, Any]) -> float | None:
    """Return the earliest deadline of these requests, or None if there is none."""
    deadlines = [each.get("timeout_ms") for each in requests]
    return min((ms for ms in deadlines if isinstance(ms, int | float)), default=None)


def _cwd(state: State) -> str | None:
    """Return the directory in which the warden starts the shim, if the test sets one."""
    return str(state[state.index("--cwd") + 1]) if "--cwd" in state else None


class ExecClient:
    """Starts one run, or several runs in one shim process."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self.inside = Inside(case, "exec")

    @property
    def place(self) -> Path:
        """Return the working directory of a program whose request has no current_dir."""
        return Path.cwd() if self.inside.name is None else self._case.folder.resolve()

    def start(
        self,
        *,
        sandbox: Mapping[str, Any] | None = None,
        hold: bool = False,
        old_request: bool = False,
        expect_result: bool = True,
        within_s: float = WITHIN_S,
        state: State = (),
        shim_env: ShimEnv | None = None,
        stdin_file: Wish = None,
        shim_stdin: Wish = None,
        shim_stdout: Wish = None,
        shim_stderr: Wish = None,
        **request: Unpack[ExecRequest],
    ) -> ShimProcess[ObservedRun]:
        """Start exec.run. `request` contains its fields; fields with unknown names are sent too."""
        message: Message = {"op": "exec.run", "request": self._request(request)}
        if sandbox is not None:
            message["sandbox"] = dict(sandbox)
        else:
            message |= self.inside.use(None if "current_dir" in request else _cwd(state))
        return self._case.launch(
            message,
            confined(ObservedRun) if put_inside(message) else ObservedRun,
            child=True,
            deadline_ms=_deadline_ms(request),
            hold=hold,
            old_request=old_request,
            expect_result=expect_result,
            within_s=within_s,
            state=state,
            shim_env=shim_env,
            streams={
                "stdin": stdin_file if stdin_file is not None else shim_stdin,
                "stdout": shim_stdout,
                "stderr": shim_stderr,
            },
        )

    def run(self, **options: Unpack[RunOptions]) -> ObservedRun:
        """Send exec.run and return the answer."""
        with self.start(**options) as shim:
            return shim.finish()

    def start_batch(
        self,
        runs: Sequence[Run],
        *,
        shim_stdin: Wish = None,
        shim_stdout: Wish = None,
        shim_stderr: Wish = None,
        **options: Unpack[Options],
    ) -> ShimProcess[ObservedBatch]:
        """Start several runs at once in one shim. Each run is its fields, or (after_ms, fields)."""
        listed: list[Message] = []
        for run in runs:
            after_ms, fields = run if isinstance(run, tuple) else (0, run)
            listed.append({"after_ms": after_ms, "request": self._request(fields)})
        message: Message = {"op": "exec.batch", "runs": listed}
        message |= self.inside.use(_cwd(options.get("state", ())))
        return self._case.launch(
            message,
            confined(ObservedBatch) if put_inside(message) else ObservedBatch,
            child=True,
            deadline_ms=_deadline_ms(*(run["request"] for run in listed)),
            streams={"stdin": shim_stdin, "stdout": shim_stdout, "stderr": shim_stderr},
            **options,
        )

    def batch(self, runs: Sequence[Run], **options: Unpack[BatchOptions]) -> ObservedBatch:
        with self.start_batch(runs, **options) as shim:
            return shim.finish()

    def _request(self, fields: Mapping[str, Any]) -> Message:
        """Make the request.

        Raise NotApplicable if a field has bytes that are not UTF-8 and the shim's API takes only
        strings.
        """
        made = exec_request(fields)
        self._needs_bytes(made)
        return made

    def _needs_bytes(self, asked: Any) -> None:
        if "exec.bytes" not in self._case.capabilities and has_bytes(asked):
            raise NotApplicable.without("exec.bytes")

    def format_env(self, env: EnvMode) -> str:
        """Return the answer of exec.format_env through serve.

        A quarter of the calls are repeated through run; the two answers must be equal.
        """
        mode = env_mode(env)
        self._needs_bytes(mode)
        answer = self._case.session.serve().call("exec.format_env", env=mode)
        if "result" not in answer:
            raise Failure("exec.format_env answers", "a result", shown(answer))
        text = str(answer["result"]["text"])
        if (len(text) + self._case.session.seed) % 4 == 0:
            again = self._case.send({"op": "exec.format_env", "env": mode}).result["text"]
            if again != text:
                raise Failure(
                    "serve and run give the same answer",
                    shown(text),
                    shown(again),
                    verdict=Verdict.CONTRADICTION,
                )
        return text


class ExecCase(Case):
    """A case of the contract exec."""

    @cached_property
    def exec(self) -> ExecClient:
        return ExecClient(self)
