"""POLICY-VALID: if a policy cannot be loaded, no operation may give an answer from it."""

from __future__ import annotations

from typing import Any

import pytest

from boxspec.api import requires
from contracts.policy.api import question, refused_as_workspaces, refuses_policies
from contracts.policy.client import PolicyCase

READ_IT = [question("read", "a", None)]
# The fields of each operation except the policy.
OTHER_FIELDS: dict[str, dict[str, Any]] = {
    "policy.resolve": {},
    "policy.check": {"checks": READ_IT},
    "policy.check_resolved": {"checks": READ_IT, "root": "/"},
    "policy.explain": {"checks": READ_IT},
    "policy.audit": {"checks": READ_IT},
}


@requires("POLICY-VALID-07")
@pytest.mark.parametrize("op", OTHER_FIELDS)
def test_no_operation_answers_from_a_policy_that_contract_refuses(
    case: PolicyCase, op: str
) -> None:
    refuses_policies(case, op, OTHER_FIELDS[op], "contract")


@requires("POLICY-VALID-08")
@pytest.mark.parametrize("op", OTHER_FIELDS)
def test_no_operation_answers_from_a_policy_that_hardened_refuses(
    case: PolicyCase, op: str
) -> None:
    refuses_policies(case, op, OTHER_FIELDS[op], "hardened")


@requires("POLICY-VALID-07", capability="policy.load")
def test_no_workspace_has_a_file_that_contract_refuses(case: PolicyCase) -> None:
    refused_as_workspaces(case, "contract")


@requires("POLICY-VALID-08", capability="policy.load")
def test_no_workspace_has_a_file_that_hardened_refuses(case: PolicyCase) -> None:
    refused_as_workspaces(case, "hardened")
