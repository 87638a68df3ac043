"""What the twin does of the contract echo."""

from contract import Contract


def capabilities():
    return ["echo"]


CONTRACT = Contract(operations={"echo.say": "ops:say"}, capabilities=capabilities)
