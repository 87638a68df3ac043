"""How a fault is written down: a function that changes the twin, and what it stands for."""

FAULTS = {}


class Fault:
    def __init__(self, name, requirement, mistake, seen, role, install):
        self.name = name
        self.requirement = requirement
        self.mistake = mistake
        self.seen = seen
        self.role = role
        self.install = install

    def as_json(self):
        return {
            "id": self.name,
            "contract": "exec",
            "requirement": self.requirement,
            "role": self.role,
            "mistake": self.mistake,
            "seen": self.seen,
        }


def fault(requirement, mistake, seen="general knowledge", role="fault"):
    """The id is the topic of the requirement and the name of the function."""

    def register(install):
        topic = requirement.split("-")[1].lower() if requirement else role
        name = f"{topic}.{install.__name__.replace('_', '-')}"
        FAULTS[name] = Fault(name, requirement, mistake, seen, role, install)
        return install

    return register


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
