"""The declaration of the contract policy in the Python implementation."""

from __future__ import annotations

from contract import Contract


def capabilities() -> list[str]:
    from policy.yamltext import available

    found = [
        "path",
        "glob",
        "policy",
        "policy.load",
        "policy.json",
        "policy.fold",
        "policy.resolved",
        "policy.resolved.parent",
        "policy.explain",
        "policy.audit",
    ]
    return [*found, "policy.yaml"] if available() else found


CONTRACT = Contract(
    operations={
        "path.normalize": "ops:path_normalize",
        "glob.match": "ops:glob_match",
        "policy.load": "ops:load",
        "policy.resolve": "ops:resolve",
        "policy.check": "ops:check",
        "policy.check_resolved": "ops:check_resolved",
        "policy.explain": "ops:explain",
        "policy.audit": "ops:audit",
    },
    capabilities=capabilities,
)
