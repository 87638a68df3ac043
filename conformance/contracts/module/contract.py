"""The contract module: execute code that is named by an id.

The input is one JSON value, and so is the output.
"""

from boxspec.subject.contract import Contract

CONTRACT = Contract(
    name="module",
    operations={"module.execute": "module"},
    capabilities={
        "module": "`module.execute`; under serve only with `enabled: false`",
        "module.backend": "`backend` in `module.execute`, and `enforcement` in its result",
        "module.runner": "`SHIM --internal-sandbox-runner ID` is the runner of a module",
    },
    case="contracts.module.client:ModuleCase",
    trust="contracts.module.trust:trust",
    fault_scope="focus",
    fault_lanes=4,
    fuzzing="contracts.module.fuzzing:FUZZING",
    orders="contracts.module.orders:ORDERS",
    features={
        "reading /proc/PID/environ": "contracts.module.host:without_readable_environments",
    },
)
