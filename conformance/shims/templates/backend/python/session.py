"""The sessions of a sandbox: probe, the environment, the calls. This file needs no change."""

import os
import shutil
import subprocess
import tempfile

import claims
from running import run

from protocol import Failed, refuse_others

INHERITED = {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TZ", "LANG", "LANGUAGE"}
CONTEXT = {"root", "cwd", "profile", "egress"}
REQUEST = {"program", "args", "current_dir", "stdin", "env", "timeout_ms"}


class Sandbox:
    def __init__(self, name, claims, lacks, command):
        self.name, self.claims, self.lacks, self.command = name, claims, lacks, command

    def operations(self):
        asked = {"backend", "on_unavailable", "context", "calls"}
        return {
            "backend.probe": (self.probe, {"backend", "profile", "egress"}, lambda message: True),
            "backend.run": (self.session, asked, lambda message: True),
        }

    def missing(self):
        """Return why the sandbox runs no program here, or an empty string."""
        with tempfile.TemporaryDirectory() as folder:
            line = self.command(["true"], folder, folder, folder, "repo-write")
            try:
                done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True)
            except OSError as why:
                return str(why)
            return done.stderr.decode("utf-8", "replace") if done.returncode else ""

    def probe(self, message):
        if message["backend"] != self.name:
            raise Failed("invalid_input", f"there is no backend {message['backend']}")
        egress = message.get("egress")
        return claims.report(self.claims, message["profile"], egress, self.missing())

    def session(self, message):
        context, degrade = message["context"], message.get("on_unavailable") == "degrade"
        refuse_others(context, CONTEXT, "backend.policy")
        probed = self.probe({"backend": message["backend"], **context})
        root = os.path.realpath(context["root"])
        cwd = os.path.realpath(os.path.join(root, context.get("cwd", root)))
        if not os.path.isdir(root) or os.path.commonpath([root, cwd]) != root:
            raise Failed("invalid_input", f"{cwd} is no directory in the root {root}")
        reasons = [why for each in probed["aspects"].values() for why in each.get("reasons", [])]
        result = {"claims": probed, "not_enforced": [], "reasons": reasons, "warnings": []}
        result |= {"session": "opened", "calls": [], "enforcement": probed["overall"]}
        log = result["log"] = [{"call": "probe", "ok": True}]
        if probed["overall"] != "fully" and not degrade:
            why = f"the sandbox is {probed['overall']}"
            return result | {"session": "refused", "why": why, "enforcement": "none"}
        confine = probed["overall"] != "unavailable"
        if not confine:
            result |= {"enforcement": "none", "warnings": ["the calls run WITHOUT a sandbox"]}
        scratch = tempfile.mkdtemp(prefix="scratch-")
        for each in message["calls"]:
            request = each["request"]
            refuse_others(request, REQUEST, "exec.run")
            place = os.path.realpath(os.path.join(root, request.get("current_dir", cwd)))
            words = [request["program"], *request.get("args", [])]
            line = self.command(words, root, scratch, place, context["profile"])
            done = run(request, line if confine else words, place, environment(request, scratch))
            done.get("result", {})["enforcement"] = result["enforcement"]
            result["calls"].append(done)
            log += [{"call": "wrap", "ok": True}, {"call": "run", "ok": "result" in done}]
        shutil.rmtree(scratch, ignore_errors=True)
        log.append({"call": "shutdown", "ok": True})
        return result


def environment(request, scratch):
    env = request.get("env", "inherit")
    if env != "inherit":
        return dict(env["clear_and_set"]) | {"TMPDIR": scratch}
    passed = {k: v for k, v in os.environ.items() if k in INHERITED or k.startswith("LC_")}
    return passed | {"TMPDIR": scratch}
