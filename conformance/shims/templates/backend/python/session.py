"""The sessions of a sandbox: probe, the environment, the calls. This file needs no change."""

import os
import shutil
import subprocess
import tempfile

from running import run

from protocol import Failed, refuse_others

REQUESTED = {
    "read-only": {"fs-write", "fs-metadata", "process"},
    "repo-write": {"fs-write", "fs-metadata", "process"},
    "full-dev": {"fs-write", "fs-metadata", "process"},
    "no-network": {"fs-write", "fs-metadata", "process", "network"},
    "ci-only": {"fs-write", "fs-metadata", "process", "network", "ipc"},
}
INHERITED = {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TZ", "LANG", "LANGUAGE"}
CONTEXT = {"root", "cwd", "profile"}


class Sandbox:
    def __init__(self, name, claims, lacks, command):
        self.name, self.claims, self.lacks, self.command = name, claims, lacks, command

    def operations(self):
        asked = {"backend", "on_unavailable", "context", "calls"}
        return {
            "backend.probe": (self.probe, {"backend", "profile"}, lambda message: True),
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
        requested, why_not = REQUESTED[message["profile"]], self.missing()
        aspects = {name: {"claim": "not-requested"} for name in ("fs-read", "limits")}
        for name, claim in self.claims.items():
            if why_not:
                aspects[name] = {"claim": "unavailable", "reasons": [why_not]}
            elif claim == "fully":
                aspects[name] = {"claim": "fully"}
            elif name in requested:
                aspects[name] = {"claim": "unavailable", "reasons": [claim]}
            else:
                aspects[name] = {"claim": "not-requested"}
        found = {aspects[name]["claim"] for name in requested}
        overall = found.pop() if len(found) == 1 else "partial"
        return {"overall": overall, "aspects": aspects, "not_enforced": []}

    def session(self, message):
        context, degrade = message["context"], message.get("on_unavailable") == "degrade"
        refuse_others(context, CONTEXT, "backend.policy")
        probed = {"backend": message["backend"], "profile": context["profile"]}
        claims, root = self.probe(probed), os.path.realpath(context["root"])
        cwd = os.path.realpath(os.path.join(root, context.get("cwd", root)))
        if not os.path.isdir(root) or os.path.commonpath([root, cwd]) != root:
            raise Failed("invalid_input", f"{cwd} is no directory in the root {root}")
        reasons = [why for each in claims["aspects"].values() for why in each.get("reasons", [])]
        result = {"claims": claims, "not_enforced": [], "reasons": reasons, "warnings": []}
        result |= {"session": "opened", "calls": [], "enforcement": claims["overall"]}
        log = result["log"] = [{"call": "probe", "ok": True}]
        if claims["overall"] != "fully" and not degrade:
            why = f"the sandbox is {claims['overall']}"
            return result | {"session": "refused", "why": why, "enforcement": "none"}
        confine = claims["overall"] != "unavailable"
        if not confine:
            result |= {"enforcement": "none", "warnings": ["the calls run WITHOUT a sandbox"]}
        scratch = tempfile.mkdtemp(prefix="scratch-")
        for each in message["calls"]:
            request = each["request"]
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
