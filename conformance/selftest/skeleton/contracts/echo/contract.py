"""The contract echo: what is said comes back. The smallest contract there can be."""

from boxspec.target.contract import Contract
from contracts.echo.asking import AsksEcho
from contracts.echo.trust import trust

CONTRACT = Contract(
    name="echo",
    operations={"echo.say": "echo"},
    capabilities={"echo": "`echo.say`"},
    offers=AsksEcho,
    trust=trust,
)
