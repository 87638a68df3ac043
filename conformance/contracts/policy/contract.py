"""The contract policy: rules in a file decide which paths a program may read or modify."""

from boxspec.subject.contract import Contract

CONTRACT = Contract(
    name="policy",
    operations={
        "path.normalize": "path",
        "glob.match": "glob",
        "policy.load": "policy.load",
        "policy.resolve": "policy",
        "policy.check": "policy",
        "policy.check_resolved": "policy.resolved",
        "policy.explain": "policy.explain",
        "policy.audit": "policy.audit",
    },
    capabilities={
        "path": "`path.normalize`",
        "glob": "`glob.match`",
        "policy": "`policy.resolve` and `policy.check`",
        "policy.load": "`policy.load`",
        "policy.json": "policies in JSON",
        "policy.yaml": "policies in YAML",
        "policy.fold": '`case: "fold"`',
        "policy.resolved": "`policy.check_resolved`",
        "policy.resolved.parent": '`follow: "parent"` in `policy.check_resolved`',
        "policy.explain": "`policy.explain`",
        "policy.audit": "`policy.audit`",
    },
    alone=frozenset({"path", "glob", "policy.load", "policy.json", "policy.yaml"}),
    case="contracts.policy.client:PolicyCase",
    trust="contracts.policy.trust:trust",
    fault_scope="focus",
    fault_lanes=4,
    preload=(
        "contracts.policy.judging",
        "contracts.policy.trees",
        "contracts.policy.vectors",
        "contracts.shared.globs",
        "boxspec.subject.cost",
        "boxspec.subject.laws",
    ),
    fuzzing="contracts.policy.fuzzing:FUZZING",
)
