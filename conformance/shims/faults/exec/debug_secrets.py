"""Faults in replacing secrets in the copy for debug, and in the loggable form of an environment."""

import os
import re

import exec.redact as redact
import exec.run as run
from faults.registry import fault, replaces


@fault("EXEC-DEBUG-02", "the copy is not redacted", "logs full of tokens")
def copies_raw():
    run.secrets = lambda *environments: set()


@fault("EXEC-DEBUG-02", "only secrets of clear_and_set are replaced", "half of the list")
def forgets_the_callers_secrets():
    @replaces(run)
    def secrets(original, caller, given):
        return original(given)


@fault("EXEC-DEBUG-02", "only one secret of each environment is replaced", "a break too early")
def one_secret_of_each():
    @replaces(run)
    def secrets(original, *environments):
        found = set()
        for each in environments:
            found |= set(sorted(original(each))[:1])
        return found


@fault("EXEC-DEBUG-02", "the environment is logged as it is", 'eprintln!("{env:?}")')
def logs_the_environment():
    @replaces(run.Run)
    def spawn(original, self):
        original(self)
        if self.tee:
            pairs = {**os.environb, **dict(self.request.env or ())}.items()
            self.tee.put(b"".join(name + b"=" + value + b"\n" for name, value in pairs))


@fault("EXEC-DEBUG-02", "a variable that is not UTF-8 ends the copy", "an exception on the way")
def odd_variables_end_the_copy():
    @replaces(run.Run)
    def spawn(original, self):
        original(self)
        if self.tee and any(not is_text(word) for pair in os.environb.items() for word in pair):
            self.take = lambda output: output.read() and output.kept.pop()

    def is_text(word):
        try:
            return bool(word.decode()) or True
        except UnicodeDecodeError:
            return False


@fault("EXEC-DEBUG-03", "a secret that is split between two writes is not redacted", "pitfall E21")
def redacts_each_write():
    @replaces(redact.Redactor)
    def feed(original, self, chunk, last=False):
        return original(self, chunk, last=True)


@fault(
    "EXEC-DEBUG-03",
    "secrets are replaced one after the other, so that one replacement changes another",
    "replace in a loop",
)
def replaces_one_after_the_other():
    def feed(self, chunk, last=False):
        self.held += chunk
        for value in sorted(self.values):
            self.held = self.held.replace(value, redact.MARK)
        ready = len(self.held) if last else self.undecided_from(self.held)
        out, self.held = self.held[:ready], self.held[ready:]
        return out

    redact.Redactor.feed = feed


@fault("EXEC-DEBUG-04", "the captured streams are redacted too", "one buffer for both")
def captures_the_redacted():
    @replaces(run.Run)
    def report(original, self, cause):
        if self.tee:
            for output in self.outputs:
                redactor = redact.Redactor(self.tee.redactors["stdout"].values)
                output.kept = [redactor.feed(b"".join(output.kept), last=True)]
        return original(self, cause)


@fault("EXEC-DEBUG-05", "AUTH and SESSION are found inside words", "AUTHOR is no secret")
def finds_auth_in_author():
    @replaces(redact)
    def is_sensitive(original, name):
        upper = name.upper()
        return original(name) or b"AUTH" in upper or b"SESSION" in upper


@fault("EXEC-DEBUG-05", "short values are replaced too", "a letter as a token")
def replaces_short_values():
    redact.SHORTEST = 1


@fault(
    "EXEC-DEBUG-05", "names of secret variables are matched with their case", "case-sensitive lists"
)
def compares_names_as_written():
    @replaces(redact)
    def is_sensitive(original, name):
        return original(name) and name == name.upper()


@fault("EXEC-DEBUG-09", "the loggable form shows everything", "derive(Debug)")
def shows_secrets():
    @replaces(redact)
    def format_env(original, pairs):
        if not pairs:
            return original(pairs)
        shown = (f"({redact.quoted(k)}, {redact.quoted(v)})" for k, v in pairs)
        return f"ClearAndSet([{', '.join(shown)}])"


@fault("EXEC-DEBUG-09", "the loggable form hides all values", "better safe")
def hides_all_values():
    @replaces(redact)
    def format_env(original, pairs):
        return original(pairs and [(k, b"[REDACTED]") for k, _ in pairs])


@fault("EXEC-DEBUG-10", "the loggable form is a map", "repr(dict)")
def loggable_form_is_a_map():
    @replaces(redact)
    def format_env(original, pairs):
        return original(pairs).replace("ClearAndSet([", "{").replace("])", "}")


@fault("EXEC-DEBUG-10", "strings are not escaped", "string concatenation")
def strings_are_not_escaped():
    redact.escaped = lambda character: character


@fault("EXEC-DEBUG-05", "of white space only blanks are trimmed", "strip(' ')")
def trims_blanks_alone():
    @replaces(redact)
    def secrets(original, *environments):
        found = original(*environments)
        for environment in environments:
            for name, value in environment.items():
                if redact.is_sensitive(name) and len(value.strip(b" ")) >= redact.SHORTEST:
                    found.add(value.strip(b" "))
        return found

    run.secrets = redact.secrets


@fault("EXEC-DEBUG-02", "a secret with a line end is not redacted", "for line in stream")
def redacts_each_line():
    @replaces(redact.Redactor)
    def feed(original, self, chunk, last=False):
        *lines, rest = chunk.split(b"\n")
        out = [original(self, line + b"\n", last=True) for line in lines]
        return b"".join(out) + original(self, rest, last=last)


@fault("EXEC-DEBUG-02", "secrets are used as patterns", "re.sub(value, …)")
def secrets_are_patterns():
    def matches(self, data):
        found = []
        for value in self.values:
            try:
                found += [each.span(1) for each in re.finditer(b"(?=(" + value + b"))", data)]
            except re.error:
                continue
        return sorted(found)

    redact.Redactor.matches = matches


@fault("EXEC-DEBUG-02", "a secret of more than 4,096 bytes is not redacted", "a buffer for one")
def forgets_long_secrets():
    @replaces(redact)
    def secrets(original, *environments):
        return {value for value in original(*environments) if len(value) <= 4096}

    run.secrets = redact.secrets


@fault("EXEC-DEBUG-03", "stdout and stderr are redacted as one stream", "one Redactor for a run")
def streams_are_redacted_as_one():
    @replaces(run.Run)
    def spawn(original, self):
        original(self)
        if self.tee:
            self.tee.redactors["stderr"] = self.tee.redactors["stdout"]


@fault(
    "EXEC-DEBUG-02",
    "the inherited value of a variable that is set anew is not redacted",
    "{**environ, **env}",
)
def one_value_for_a_name():
    @replaces(run)
    def secrets(original, *environments):
        merged = {}
        for environment in environments:
            merged.update(environment)
        return original(merged)


@fault(
    "EXEC-DEBUG-05",
    "the length of a secret is counted in bytes, not characters",
    "strlen, len() of Go and Rust",
)
def bytes_are_counted():
    @replaces(run)
    def secrets(original, *environments):
        pairs = [pair for each in environments for pair in each.items()]
        short = {v.strip() for name, v in pairs if redact.is_sensitive(name) and len(v.strip()) > 3}
        return original(*environments) | short
