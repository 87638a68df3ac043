"""The client of the contract module, and its cases."""

from __future__ import annotations

import contextlib
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict, Unpack, cast

from boxspec.subject.case import WITHIN_S, Case, Options
from boxspec.subject.client.b64 import put_word
from boxspec.subject.observed import Observed
from boxspec.subject.patience import slow_s
from boxspec.subject.shim_process import ShimProcess
from contracts.shared.files import script_at
from contracts.shared.inside import OF_THE_RUN, Around, Inside, confined, put_inside

RUNNER = "--internal-sandbox-runner"


# The error of an execution. An error has some of these fields, depending on its class.
ModuleError = TypedDict(
    "ModuleError",
    {
        "class": str,
        "module_id": str,
        "message": str,
        "timeout_ms": int,
        "exit_code": int,
        "stderr": str,
        "signal": str,
        "stream": str,
        "reason": str,
    },
    total=False,
)


class ExecuteResult(TypedDict, total=False):
    """The result of module.execute."""

    value: object
    error: ModuleError
    enforcement: str
    enforcement_reasons: list[str]
    directory_left: str
    caller_exposed: bool


class Executed(Observed):
    """The answer to one module.execute, and the observations from outside."""

    @property
    def result(self) -> ExecuteResult:
        return cast(ExecuteResult, super().result)

    @property
    def outcome(self) -> str:
        """Return `value`, or the class of the error."""
        error = self.result.get("error")
        return "value" if error is None else str(error["class"])

    @property
    def value(self) -> object:
        return self.result.get("value")

    def field(self, name: str) -> object:
        """Return a field of the error, if there is one."""
        return self.result.get("error", {}).get(name)


class ExecuteOptions(Options, total=False):
    """The fields of an execution besides id and input."""

    enabled: bool
    timeout_ms: int | None
    extensions_root: str | Path | None
    backend: Around


class ModuleClient:
    """Puts modules into the extensions root of the case, and executes them."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self.inside = Inside(case, "module")

    @property
    def root(self) -> Path:
        return self._case.tmp / "extensions"

    @property
    def below(self) -> Path:
        """Return the TMPDIR of the shim. No other case uses it. A test may set another TMPDIR."""
        return self._case.tmp / "directories"

    def script(self, module_id: str, body: str, mode: int = 0o755) -> Path:
        """Make a module that is a shell script."""
        return script_at(self.root / module_id, body, mode=mode)

    def start(
        self,
        module_id: str,
        value: object = None,
        *,
        enabled: bool = True,
        timeout_ms: int | None = None,
        extensions_root: str | Path | None = "",
        backend: Around = OF_THE_RUN,
        **options: Unpack[Options],
    ) -> ShimProcess[Executed]:
        """Start an execution.

        extensions_root: by default the root of the case; None sends no root.
        """
        message: dict[str, Any] = {"op": "module.execute", "module_id": module_id}
        message |= {"input": value, "enabled": enabled}
        if timeout_ms is not None:
            message["timeout_ms"] = timeout_ms
        if extensions_root is not None:
            put_word(message, "extensions_root", str(extensions_root or self.root))
        if enabled:
            message |= self.inside.around(backend, own_root=True)
        of_the_run = put_inside(message, backend)
        # A killed caller cannot remove its directory. So TMPDIR lies in the folder of the case,
        # which is deleted at the end.
        self.below.mkdir(exist_ok=True)
        self.below.chmod(0o777)
        options["shim_env"] = {
            "TMPDIR": str(self.below),
            **(self._noting(message) if of_the_run else {}),
            **(options.get("shim_env") or {}),
        }
        return self._case.launch(
            message,
            confined(Executed) if of_the_run else Executed,
            child=enabled,
            deadline_ms=timeout_ms or None,
            **options,
        )

    def _noting(self, message: dict[str, Any]) -> dict[str, str]:
        """Let a module in a sandbox write notes to the folder of the case.

        Return the environment for that. The workspace is the module's own directory. The profile
        `full-dev` also permits writes to HOME/.cache. So HOME is a directory whose .cache is a link
        to the folder of the case.
        """
        message["backend"]["context"]["profile"] = "full-dev"
        home = self._case.folder / "home"
        home.mkdir(exist_ok=True)
        if not (home / ".cache").is_symlink():
            (home / ".cache").symlink_to(self._case.folder)
        return {"HOME": str(home)}

    def execute(
        self, module_id: str, value: object = None, **options: Unpack[ExecuteOptions]
    ) -> Executed:
        with self.start(module_id, value, **options) as shim:
            return shim.finish()

    def runner(self, *words: str, given: bytes) -> Observed:
        """Start the shim as the runner of a module of this case, with these bytes on stdin.

        The bytes must fit into a pipe.
        """
        with self._case.launch(
            given,
            Observed,
            expect_result=False,
            within_s=max(WITHIN_S, slow_s(self._case.startup_ms)),
            shim_env={"APCORE_EXTENSIONS_ROOT": str(self.root)},
            streams={"stdin": "pipe"},
            words=[RUNNER, *words],
        ) as shim:
            # A shim that refuses the arguments need not read stdin. Then the write may fail.
            with contextlib.suppress(BrokenPipeError):
                shim.stdin.write(given)
            shim.stdin.close()
            return shim.finish()


class ModuleCase(Case):
    """A case of the contract module."""

    @cached_property
    def module(self) -> ModuleClient:
        return ModuleClient(self)
