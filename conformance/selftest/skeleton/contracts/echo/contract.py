"""The contract echo: what is said comes back. The smallest contract there can be."""

from boxspec.subject.contract import Contract

CONTRACT = Contract(
    name="echo",
    operations={"echo.say": "echo"},
    capabilities={"echo": "`echo.say`"},
    case="contracts.echo.client:EchoCase",
    trust="contracts.echo.trust:trust",
)
