"""The one exception that becomes an `error` of the protocol."""


class Failed(Exception):
    def __init__(self, kind, message, problems=None):
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.problems = problems

    def as_json(self):
        error = {"kind": self.kind, "message": self.message}
        if self.problems:
            error["problems"] = self.problems
        return {"error": error}
