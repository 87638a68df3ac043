"""Faults in the copy of the output for debug."""

import os
import re

import exec.redact as redact
import exec.run as run
import exec.tee as tee
from errors import Failed
from faults.registry import fault, replaces


@fault("EXEC-DEBUG-01", "with debug the output is shown and not captured", "inherit habits")
def shows_instead_of_capturing():
    @replaces(run.Run)
    def take(original, self, output):
        original(self, output)
        if self.tee:
            output.kept.clear()


@fault("EXEC-DEBUG-01", "only stdout is copied", "one of two")
def copies_stdout_only():
    @replaces(tee.Tee)
    def feed(original, self, stream, chunk):
        if stream == "stdout":
            original(self, stream, chunk)


@fault("EXEC-DEBUG-01", "there is no copy if the stderr pipe cannot be reopened", "under sudo -u")
def copies_only_where_it_may_open():
    tee.open_stderr_again = lambda: os.open("/proc/self/fd/2", os.O_WRONLY | os.O_NONBLOCK)


@fault("EXEC-DEBUG-01", "the end of the copy is lost on a slow terminal", "EAGAIN")
def drops_the_end_of_the_copy():
    tee.GOODBYE_NS = 0


@fault(
    "EXEC-DEBUG-01",
    "only one write is made each time, although there is room for more",
    "write() once",
)
def writes_once_where_there_is_room_for_more():
    writes = tee.Tee.write

    def write(self):
        held, self.queue = self.queue[tee.SURE :], self.queue[: tee.SURE]
        writes(self)
        self.queue += held

    def put(self, data):
        kept = data[: tee.ROOM - len(self.queue)]
        self.queue += kept
        self.dropped += len(data) - len(kept)
        self.write()

    tee.Tee.write, tee.Tee.put = write, put


@fault("EXEC-DEBUG-07", "a closed terminal is polled without end", "POLLERR is always ready")
def asks_a_closed_terminal_for_ever():
    def write(self):
        try:
            while self.queue and self.fd >= 0 and self.writable(0):
                self.queue = self.queue[os.write(self.fd, self.queue[: tee.SURE]) :]
        except OSError:
            return

    tee.Tee.write = write


@fault(
    "EXEC-DEBUG-06",
    "a stderr that cannot be reopened is written to without poll",
    "a blocking write()",
)
def writes_blindly_where_it_may_not_open():
    @replaces(tee.Tee)
    def writable(original, self, timeout_ms):
        return os.get_blocking(self.fd) or original(self, timeout_ms)


@fault("EXEC-DEBUG-07", "the caller's stderr is closed at the end of the copy", "close() for all")
def closes_the_callers_stderr():
    @replaces(tee.Tee)
    def close(original, self):
        if self.queue:
            os.close(2)
        original(self)


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


@fault("EXEC-DEBUG-06", "a terminal that blocks stops the run", "pitfall E18")
def blocks_with_the_terminal():
    tee.Tee.open = lambda self: os.dup(2)
    tee.Tee.writable = lambda self, timeout_ms: True


@fault("EXEC-DEBUG-12", "gaps of the copy are not marked", "discard()")
def leaves_out_in_silence():
    @replaces(tee.Tee)
    def put(original, self, data):
        original(self, data)
        self.dropped = 0


@fault(
    "EXEC-DEBUG-06", "at its end the copy waits too long for a slow terminal", "flush at the end"
)
def waits_for_the_terminal():
    tee.GOODBYE_NS = 3_000_000_000


@fault("EXEC-DEBUG-07", "a closed terminal is an error of the run", "pitfall E19: EPIPE")
def closed_terminal_is_an_error():
    @replaces(tee.Tee, "__init__")
    def init(original, self, values):
        original(self, values)
        if self.fd < 0:
            raise Failed("io", "cannot write to the terminal")

    @replaces(tee.Tee)
    def write(original, self):
        had = self.fd >= 0
        original(self)
        if had and self.fd < 0:
            raise Failed("io", "cannot write to the terminal")


@fault("EXEC-DEBUG-08", "the caller's stderr is made non-blocking", "fcntl on a shared description")
def sets_flags_on_stderr():
    @replaces(tee.Tee)
    def open(original, self):
        os.set_blocking(2, False)
        return original(self)


@fault("EXEC-DEBUG-08", "the caller's stderr is made blocking", "fcntl on a shared description")
def makes_stderr_blocking():
    @replaces(tee.Tee)
    def open(original, self):
        os.set_blocking(2, True)
        return original(self)


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


@fault("EXEC-DEBUG-01", "output in the grace period is not copied", "the copy ends with the wait")
def the_grace_is_not_copied():
    ending: list[run.Run] = []

    @replaces(run.Run)
    def first_signal(original, self, cause):
        ending.append(self)
        original(self, cause)

    @replaces(run.Run)
    def take(original, self, output):
        if self in ending:
            output.read()
        else:
            original(self, output)


@fault(
    "EXEC-DEBUG-11",
    "the last bytes are always held back, as many as the longest secret has",
    "a window of fixed size",
)
def holds_back_a_window():
    @replaces(redact.Redactor)
    def undecided_from(original, self, data):
        longest = max(map(len, self.values), default=1)
        return min(original(self, data), max(0, len(data) - longest + 1))


@fault("EXEC-DEBUG-11", "an unfinished line is not copied until it ends", "for line in stream")
def shows_whole_lines():
    @replaces(redact.Redactor)
    def undecided_from(original, self, data):
        return min(original(self, data), data.rfind(b"\n") + 1)


@fault(
    "EXEC-DEBUG-03",
    "text that is held back is lost if the stream does not end",
    "on('end') flushes",
)
def held_back_is_lost_without_an_end():
    @replaces(run.Run)
    def close(original, self):
        if self.tee and self.detached:
            for output in self.outputs:
                if output.fd >= 0:
                    self.tee.redactors[output.name].held = b""
        original(self)


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
