"""Faults in the options refuse and degrade."""

import backend.ops as ops
import backend.session as session
from backend.session import Session
from faults.registry import fault, replaces


@fault("BACKEND-SESSION-01", "refuse refuses always", "a flag read as never")
def refuse_refuses_always():
    @replaces(Session)
    def acceptable(original, self):
        return () if self.on_unavailable == "refuse" else original(self)


@fault("BACKEND-SESSION-02", "partial is good enough for refuse", "!= unavailable for == fully")
def refuse_takes_partial():
    @replaces(Session)
    def acceptable(original, self):
        return ("fully", "partial")


@fault(
    "BACKEND-SESSION-03",
    "degrade runs without the sandbox where it enforces partially",
    "one branch for both",
)
def degrade_drops_partial():
    @replaces(Session)
    def acceptable(original, self):
        return ("fully",)


@fault("BACKEND-SESSION-04", "degrade refuses an unavailable backend", "one branch for both")
def degrade_refuses():
    @replaces(Session)
    def open(original, self):
        return original(self) and self.backend is not None


@fault("BACKEND-SESSION-04", "a dropped backend wraps all the same", "the handle is kept")
def dropped_backend_still_wraps():
    @replaces(Session)
    def drop(original, self):
        kept = self.backend
        original(self)
        self.backend = kept


@fault("BACKEND-SESSION-05", "degrades without a warning", "a log line at debug level")
def degrades_silently():
    @replaces(Session)
    def warn(original, self, text):
        pass


@fault("BACKEND-SESSION-06", "degrade is the default", "it should just work")
def degrade_is_the_default():
    @replaces(ops)
    def take_on_unavailable(original, reader):
        return reader.take_choice("on_unavailable", ("degrade", "refuse"))


@fault("BACKEND-SESSION-07", "an error of probe is no obstacle", "except: pass")
def errors_of_probe_are_ignored():
    @replaces(Session)
    def probe(original, self):
        found = original(self)
        return "fully" if self.why is not None and "failed" in self.why else found


@fault("BACKEND-SESSION-07", "an error of prepare is no obstacle", "except: pass")
def errors_of_prepare_are_ignored():
    @replaces(Session)
    def prepare(original, self):
        claims = self.claims
        original(self)
        self.claims = claims
        return True


@fault("BACKEND-SESSION-08", "a probe may take for ever", "wait() without a limit")
def waits_for_ever():
    session.LIMIT_S = 3600.0


@fault("BACKEND-SESSION-09", "an error refuses under degrade too", "the error is passed on")
def errors_refuse_under_degrade():
    @replaces(Session)
    def open(original, self):
        opened = original(self)
        return opened and not (self.why or "").partition(":")[0].endswith("failed")


@fault("BACKEND-SESSION-10", "any wrapped run is called fully enforced", "a boolean in between")
def wrapped_means_fully():
    @replaces(Session)
    def open(original, self):
        opened = original(self)
        if self.enforcement == "partial":
            self.enforcement = "fully"
        return opened


@fault("BACKEND-SESSION-04", "only the first call is reported as not confined", "warned once")
def later_calls_are_told_as_confined():
    @replaces(Session)
    def call(original, self, request):
        answer = original(self, request)
        if self.backend is None:
            self.enforcement = "fully"
        return answer


@fault("BACKEND-SESSION-10", "later calls lose the claim", "a report that is moved away")
def later_calls_lose_the_claim():
    @replaces(Session)
    def call(original, self, request):
        answer = original(self, request)
        self.enforcement = "none"
        return answer


@fault("BACKEND-SESSION-08", "under degrade a backend has no time limit", "a limit for refuse only")
def waits_for_ever_under_degrade():
    @replaces(Session)
    def limited(original, self, work):
        limit = session.LIMIT_S
        session.LIMIT_S = 3600.0 if self.on_unavailable == "degrade" else limit
        try:
            return original(self, work)
        finally:
            session.LIMIT_S = limit


@fault("BACKEND-SESSION-03", "one profile falls back to no sandbox", "its flags are not there yet")
def one_profile_runs_bare():
    @replaces(Session)
    def open(original, self):
        opened = original(self)
        if self.backend is not None and self.context.profile == "ci-only":
            self.drop()
        return opened


@fault("BACKEND-SESSION-03", "in another directory nothing is wrapped", "a directory that it lacks")
def another_directory_runs_bare():
    @replaces(Session)
    def open(original, self):
        opened = original(self)
        if self.backend is not None and self.context.cwd != self.context.root:
            self.drop()
            self.claims = None
        return opened


@fault("BACKEND-SESSION-10", "with a policy a session says less than its probe", "rules in doubt")
def a_policy_makes_it_partial():
    @replaces(Session)
    def open(original, self):
        opened = original(self)
        if self.enforcement == "fully" and self.context.rules is not None:
            self.enforcement = "partial"
        return opened


@fault("BACKEND-SESSION-08", "the time limit is 15 s", "a limit of another kit")
def gives_up_after_15_s():
    session.LIMIT_S = 15.0
