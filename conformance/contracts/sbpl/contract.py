"""The contract sbpl: a policy as a profile of macOS Seatbelt, and the wrapped command."""

from boxspec.subject.contract import Contract, Verb

CONTRACT = Contract(
    name="sbpl",
    operations={"sbpl.compile": "sbpl", "sbpl.wrap": "sbpl.wrap"},
    capabilities={
        "sbpl": "`sbpl.compile` with `rules`, and with `policy` if that capability is declared too",
        "sbpl.fold": '`case: "fold"` in `sbpl.compile`',
        "sbpl.wrap": "`sbpl.wrap`",
    },
    case="contracts.sbpl.client:SbplCase",
    trust="contracts.sbpl.trust:trust",
    verbs=(
        Verb(
            "sbpl",
            "profiles of Seatbelt: which clause decides, and the goldens",
            "contracts.sbpl.command:main",
        ),
    ),
    fault_scope="focus",
    fault_lanes=4,
    preload=(
        "contracts.sbpl.generators",
        "contracts.sbpl.hostile",
        "contracts.sbpl.judging",
        "contracts.sbpl.kit",
        "contracts.sbpl.mac",
        "boxspec.subject.laws",
    ),
    features={"sandbox-exec": "contracts.sbpl.mac:absent"},
)
