"""The contract echo: what is said comes back. The smallest contract there can be."""

from contracts.echo.asking import AsksEcho
from contracts.echo.trust import trust

from boxspec.target.contract import Contract

CONTRACT = Contract(
    name="echo",
    operations={"echo.say": "echo"},
    capabilities={"echo": "`echo.say`"},
    offers=AsksEcho,
    trust=trust,
)
