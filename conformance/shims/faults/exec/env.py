"""Faults of the environment."""

import exec.spawn as spawn
from faults.registry import fault, replaces


@fault("EXEC-ENV-01", "inherited values that are not UTF-8 are replaced", "Node, Java")
def inherited_values_become_text():
    @replaces(spawn)
    def child_environment(original, request):
        given = original(request)
        if request.env is not None:
            return given
        return {k: v.decode("utf-8", "replace").encode() for k, v in given.items()}


@fault("EXEC-ENV-01", "a variable of its own is added", "run ids for log correlation")
def adds_a_variable():
    @replaces(spawn)
    def child_environment(original, request):
        added = {b"RUN_ID": b"1"} if request.env is None else {}
        return original(request) | added


@fault(
    "EXEC-ENV-01", "variables with names that a shell cannot write are left out", "dash in between"
)
def drops_odd_names():
    @replaces(spawn)
    def child_environment(original, request):
        given = original(request)
        if request.env is not None:
            return given
        return {k: v for k, v in given.items() if k.replace(b"_", b"a").isalnum()}


@fault("EXEC-ENV-01", "PWD is set to current_dir", "go os/exec")
def sets_pwd():
    @replaces(spawn)
    def child_environment(original, request):
        moves = request.env is None and request.current_dir is not None
        return original(request) | ({b"PWD": request.current_dir} if moves else {})


@fault("EXEC-ENV-01", "variables with an empty value are left out", "if value: habits")
def drops_empty_values():
    @replaces(spawn)
    def child_environment(original, request):
        given = original(request)
        return given if request.env is not None else {k: v for k, v in given.items() if v}


@fault("EXEC-ENV-02", "clear_and_set keeps the caller's variables", "subprocess env=dict(…)")
def sets_without_clearing():
    @replaces(spawn)
    def child_environment(original, request):
        return spawn.caller_environment() | original(request)


@fault("EXEC-ENV-02", "clear_and_set keeps HOME and PATH", "env -i wrappers")
def keeps_home():
    @replaces(spawn)
    def child_environment(original, request):
        return {b"HOME": b"/root"} | original(request)


@fault("EXEC-ENV-04", "given values that are not UTF-8 are replaced", "Node, Java")
def given_values_become_text():
    values_of(False, lambda value, made: value.decode("utf-8", "replace").encode())


@fault(
    "EXEC-ENV-03", "of two variables with one name the first is used", "pitfall A20: getenv order"
)
def first_duplicate_wins():
    @replaces(spawn)
    def child_environment(original, request):
        if request.env is None:
            return original(request)
        return dict(reversed(request.env))


def values_of(inherited, change):
    """Change each value of an environment that is inherited, or else of one that is given.

    change: a function of the value and of the environment.
    """

    @replaces(spawn)
    def child_environment(original, request):
        made = original(request)
        if (request.env is None) is not inherited:
            return made
        return {name: change(value, made) for name, value in made.items()}


@fault("EXEC-ENV-02", "variables in values are expanded", "os.ExpandEnv over a template")
def expands_variables():
    values_of(False, lambda value, made: value.replace(b"$B", made.get(b"B", b"")))


@fault("EXEC-ENV-01", "variables in inherited values are expanded", "ExpandEnvironmentStrings()")
def expands_inherited_variables():
    values_of(True, lambda value, made: value.replace(b"${LC_ALL}", made.get(b"LC_ALL", b"")))


@fault("EXEC-ENV-02", "PWD is set to the child's directory", "Go os/exec, where Dir is set")
def sets_pwd_beside_the_pairs():
    @replaces(spawn.Spawn)
    def execute(original, self, path):
        if self.request.env is not None and self.request.current_dir is not None:
            self.environment = {**self.environment, b"PWD": self.request.current_dir}
        original(self, path)
