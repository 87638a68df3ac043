"""Trust in a shim that declares module, or does not: a value, an end without one, a refusal."""

from __future__ import annotations

from boxspec.judge.expect import shown
from boxspec.target.case import Box
from boxspec.target.sentinels import Say, sentinel
from boxspec.target.sentinels import no as _no


def trust(box: Box, say: Say) -> None:
    box.module.script("yes", "echo 7")
    box.module.script("no", "exit 7")
    yes = box.module.execute("yes")
    sentinel("module", "module" in box.capabilities, yes.raw or {}, say, "module.execute")
    if "module" not in box.capabilities:
        return
    no = box.module.execute("no")
    if yes.outcome != "value":
        raise _no(f"a module that prints 7 is answered with {shown(yes.raw)}")
    if no.outcome == "value":
        raise _no("a module that exits 7 and prints nothing has a value: it says yes to all")
    say("a module has a value; one that exits 7 has none")
