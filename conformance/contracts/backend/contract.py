"""The contract backend: a sandbox around programs. It is judged by the effects of the programs."""

from boxspec.subject.contract import Contract

CONTRACT = Contract(
    name="backend",
    operations={"backend.probe": "backend", "backend.run": "backend"},
    capabilities={
        "backend": "`backend.probe` and `backend.run` with each backend that hello names",
        "backend.policy": "`policy` in a context and in `backend.probe`",
        "backend.script": "`script` in `backend.run`",
        "backend.scan": "`violations` in the result of `backend.run`",
        "backend.accept": "`accept` in a context and in `backend.probe`",
        "backend.strict_metadata": "`strict_metadata` in a context and in `backend.probe`",
    },
    run_only=frozenset({"backend.probe", "backend.run"}),
    case="contracts.backend.client:BackendCase",
    trust="contracts.backend.trust:trust",
    products="contracts.backend.products.view:Matrix",
    areas="contracts.backend.areas:rows",
    explored="contracts.backend.explored:Explored",
    fault_scope="focus",
    features={
        "working escape attempts": "contracts.backend.host:without_probes",
        "sandbox mechanisms": "contracts.backend.host:without_mechanisms",
    },
)
