"""Combine one or two policy files into the policy that decides."""

from __future__ import annotations

import policy.judge as judge
from errors import Failed
from policy.load import File, Policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kinds import Object


Text = tuple[bytes, str]  # the bytes of a file, and its format


class Loaded:
    def __init__(self, policy: Policy, warnings: list[Object]) -> None:
        self.policy = policy
        self.warnings = warnings


def load(base: Text, workspace: Text | None = None) -> Loaded:
    """Load a policy, and a workspace policy unless it is None. Each is given as (bytes, format).

    Raise Failed with all problems.
    """
    files = [File(*base, "global")]
    if workspace is not None:
        files.append(File(*workspace, "workspace"))
    for file in files:
        judge.validate(file, file.name == "workspace")
    if len(files) == 2 and all(file.is_read for file in files):
        judge.validate_merge(*files)
    problems = [problem for file in files for problem in file.problems_as_json()]
    if problems:
        raise refusal(problems)
    policy = merged(*files) if len(files) == 2 else files[0].policy
    return Loaded(policy, list(warnings_as_json(policy, files)))


def refusal(problems: list[Object]) -> Failed:
    first = problems[0]
    where = f"{first['file']}:{first['line']}:{first['column']}: {first['pointer']}"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return Failed("invalid_input", f"{where} {first['message']}{more}", problems)


def merged(base: File, workspace: File) -> Policy:
    """Merge two files.

    The workspace can only restrict: every deny is kept, and its profiles replace profiles of the
    same name.
    """
    policy = Policy()
    policy.name = workspace.policy.name
    policy.description = described(base, workspace)
    policy.deny_read = base.policy.deny_read + workspace.policy.deny_read
    policy.deny_modify = base.policy.deny_modify + workspace.policy.deny_modify
    policy.profiles = base.policy.profiles | workspace.policy.profiles
    return policy


def described(base: File, workspace: File) -> str | None:
    if workspace.policy.description is None:
        return base.policy.description
    return workspace.policy.description


def warnings_as_json(policy: Policy, files: Sequence[File]) -> Iterator[Object]:
    by_name: dict[str | None, File] = {file.name: file for file in files}
    found = [(by_name[where.file], where, code, why) for code, where, why in judge.warnings(policy)]
    for file in files:
        mine = [each for each in found if each[0] is file]
        for _, where, code, why in sorted(mine, key=lambda each: each[1].at):
            line, column = file.source.place(where.at)
            yield {
                "code": code,
                "pointer": where.pointer,
                "line": line,
                "column": column,
                "file": file.name,
                "message": why,
            }
