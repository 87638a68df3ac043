"""Faults in the options refuse and degrade."""

import backend.environment as environment
import backend.ops as ops
import backend.session as session
from backend.session import Session
from faults.registry import changed, fault, replaces


@fault(
    "BACKEND-SESSION-01",
    "under refuse a fully enforcing backend is refused too",
    "a flag read as never",
)
def refuse_refuses_always():
    @replaces(Session)
    def acceptable(original, self):
        return () if self.on_unavailable == "refuse" else original(self)


@fault(
    "BACKEND-SESSION-02", "under refuse a partial claim is accepted", "!= unavailable for == fully"
)
def refuse_takes_partial():
    @replaces(Session)
    def acceptable(original, self):
        return ("fully", "partial")


@fault(
    "BACKEND-SESSION-03",
    "under degrade a partially enforcing backend is not used",
    "one branch for both",
)
def degrade_drops_partial():
    @replaces(Session)
    def acceptable(original, self):
        return ("fully",)


@fault(
    "BACKEND-SESSION-04", "under degrade an unavailable backend is refused", "one branch for both"
)
def degrade_refuses():
    @replaces(Session)
    def open(original, self):
        return original(self) and self.backend is not None


@fault(
    "BACKEND-SESSION-04", "a backend that was given up still wraps commands", "the handle is kept"
)
def dropped_backend_still_wraps():
    @replaces(Session)
    def drop(original, self):
        kept = self.backend
        original(self)
        self.backend = kept


@fault(
    "BACKEND-SESSION-05", "a run without the sandbox is not reported", "a log line at debug level"
)
def degrades_silently():
    @replaces(Session)
    def warn(original, self, text):
        pass


@fault("BACKEND-SESSION-06", "degrade is the default mode", "it should just work")
def degrade_is_the_default():
    @replaces(ops)
    def take_on_unavailable(original, reader):
        return reader.take_choice("on_unavailable", ("degrade", "refuse"))


@fault("BACKEND-SESSION-07", "an error of the probe is ignored", "except: pass")
def errors_of_probe_are_ignored():
    @replaces(Session)
    def probe(original, self):
        found = original(self)
        return "fully" if self.why is not None and "failed" in self.why else found


@fault("BACKEND-SESSION-07", "an error of prepare is ignored", "except: pass")
def errors_of_prepare_are_ignored():
    @replaces(Session)
    def prepare(original, self):
        claims = self.claims
        original(self)
        self.claims = claims
        return True


@fault("BACKEND-SESSION-08", "a probe has no time limit", "wait() without a limit")
def waits_for_ever():
    session.LIMIT_S = 3600.0


@fault("BACKEND-SESSION-09", "under degrade an error refuses the session", "the error is passed on")
def errors_refuse_under_degrade():
    @replaces(Session)
    def open(original, self):
        opened = original(self)
        return opened and not (self.why or "").partition(":")[0].endswith("failed")


@fault(
    "BACKEND-SESSION-10", "any wrapped run is reported as fully enforced", "a boolean in between"
)
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


@fault(
    "BACKEND-SESSION-10",
    "later calls have no claim in their reports",
    "a report that is moved away",
)
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
        limit = 3600.0 if self.on_unavailable == "degrade" else session.LIMIT_S
        with changed(session, LIMIT_S=limit):
            return original(self, work)


@fault("BACKEND-SESSION-03", "one profile runs without the sandbox", "its flags are not there yet")
def one_profile_runs_bare():
    @replaces(Session)
    def open(original, self):
        opened = original(self)
        if self.backend is not None and self.context.profile == "ci-only":
            self.drop()
        return opened


@fault(
    "BACKEND-SESSION-03",
    "a call with another directory runs without the sandbox",
    "a directory that it lacks",
)
def another_directory_runs_bare():
    @replaces(Session)
    def open(original, self):
        opened = original(self)
        if self.backend is not None and self.context.cwd != self.context.root:
            self.drop()
            self.claims = None
        return opened


@fault(
    "BACKEND-SESSION-10", "a session with a policy is always reported as partial", "rules in doubt"
)
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


@fault("BACKEND-SESSION-10", "each result has the enforcement that the probe claimed", "a copy")
def results_have_the_first_claim():
    @replaces(session.Session)
    def probe(original, self):
        self.first = original(self)
        return self.first

    @replaces(session.Session)
    def call(original, self, request):
        answer = original(self, request)
        if "result" in answer and self.backend is not None:
            answer["result"]["enforcement"] = self.first
        return answer


@fault("BACKEND-SESSION-12", "without a sandbox each variable is passed", "a plain run")
def without_a_sandbox_each_variable_is_passed():
    @replaces(Session)
    def keep_listed_variables(original, self, request):
        if self.backend is not None:
            original(self, request)


@fault("BACKEND-SESSION-12", "without a sandbox ci-only passes the list", "one list of names")
def without_a_sandbox_ci_only_passes_the_list():
    @replaces(Session)
    def keep_listed_variables(original, self, request):
        if self.backend is not None:
            original(self, request)
        else:
            request.env = environment.base(request)


@fault("BACKEND-SESSION-11", "without a sandbox the directory is the caller's", "a plain run")
def without_a_sandbox_the_directory_is_the_callers():
    @replaces(Session)
    def wrap_request(original, self, request):
        given = request.current_dir
        original(self, request)
        request.current_dir = given if self.backend is None else request.current_dir
