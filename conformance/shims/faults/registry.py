"""How a fault is written down: a function that changes the twin, and what it stands for."""

FAULTS = {}


class Fault:
    def __init__(self, name, contract, requirement, mistake, seen, role, install):
        self.name = name
        self.contract = contract
        self.requirement = requirement
        self.mistake = mistake
        self.seen = seen
        self.role = role
        self.install = install

    def as_json(self):
        return {
            "id": self.name,
            "contract": self.contract,
            "requirement": self.requirement,
            "role": self.role,
            "mistake": self.mistake,
            "seen": self.seen,
        }


def fault(requirement, mistake, seen="general knowledge", role="fault", contract="exec"):
    """The id is the topic of the requirement and the name of the function."""

    def register(install):
        name = f"{topic(requirement, role, contract)}.{install.__name__.replace('_', '-')}"
        FAULTS[name] = Fault(name, contract_of, requirement, mistake, seen, role, install)
        return install

    contract_of = requirement.split("-")[0].lower() if requirement else contract
    return register


def topic(requirement, role, contract):
    """kill for EXEC-KILL-02, policy-glob for POLICY-GLOB-02; without a requirement its role."""
    words = requirement.lower().split("-")[:2] if requirement else [contract, role]
    return "-".join(words).removeprefix("exec-")


def replaces(owner, name=None):
    """Puts a function in the place of owner's; the original is its first argument."""

    def install(function):
        target = name or function.__name__
        original = getattr(owner, target)

        def replacement(*arguments, **named):
            return function(original, *arguments, **named)

        setattr(owner, target, replacement)
        return function

    return install
