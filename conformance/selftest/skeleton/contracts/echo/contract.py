"""The contract echo: the answer repeats the text. The smallest possible contract."""

from boxspec.subject.contract import Contract

CONTRACT = Contract(
    name="echo",
    operations={"echo.say": "echo"},
    capabilities={"echo": "`echo.say`"},
    case="contracts.echo.client:EchoCase",
    trust="contracts.echo.trust:trust",
)
