"""The contract exec: run one program, capture its output, and end its process group."""

from boxspec.subject.contract import Contract

CONTRACT = Contract(
    name="exec",
    operations={
        "exec.run": "exec",
        "exec.batch": "exec.concurrent",
        "exec.format_env": "exec.debug",
    },
    capabilities={
        "exec": "`exec.run` with the fields of the contract",
        "exec.bytes": "program, arguments, folder, environment and stdin that are not UTF-8",
        "exec.concurrent": "`exec.batch`",
        "exec.debug": "`debug: true`, and `exec.format_env`",
        "exec.cap": "`max_output_bytes`, and `truncated` in results",
        "exec.stdin_failure": '`stdin_failure: "ignore"`',
        "exec.termination": "results that say how the run ended (see `exec.run`)",
        "exec.sandbox": "`sandbox` in `exec.run`",
        "exec.backend": "`backend` in `exec.run`, and `enforcement` in its result",
    },
    run_only=frozenset({"exec.run", "exec.batch"}),
    case="contracts.exec.client:ExecCase",
    trust="contracts.exec.trust:trust",
    # All tests of the fault's topic run, because they take only seconds, and one test of each other
    # topic.
    fault_scope="focus",
    # Runs of exec wait most of the time, so several of them fit on one processor.
    fault_lanes=6,
    fuzzing="contracts.exec.fuzzing:FUZZING",
    orders="contracts.exec.orders:ORDERS",
    features={
        "pipes": "contracts.exec.host:without_pipes",
        "leases": "contracts.exec.host:without_leases",
    },
)
