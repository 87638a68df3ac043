"""The contract process: a program that runs while its caller writes to it and reads from it."""

from boxspec.subject.contract import Contract

CONTRACT = Contract(
    name="process",
    operations={"process.script": "process", "process.bridge": "process"},
    capabilities={
        "process": "`process.script` and `process.bridge`",
        "process.backend": "`backend` in both, and `enforcement` in their results",
    },
    run_only=frozenset({"process.script", "process.bridge"}),
    case="contracts.process.client:ProcessCase",
    trust="contracts.process.trust:trust",
    fault_scope="focus",
    fault_lanes=4,
    fuzzing="contracts.process.fuzzing:FUZZING",
    orders="contracts.process.orders:ORDERS",
)
