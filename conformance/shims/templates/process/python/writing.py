"""Write to a pipe. Your own function replaces this file."""


def write(stream, data):
    """Return the result of the step `write`. A pipe in non-blocking mode may take only a part."""
    left = data
    try:
        while left and (count := stream.write(left)) is not None:
            left = left[count:]
        errno = {"errno": "EAGAIN"} if left else {}
    except BrokenPipeError:
        errno = {"errno": "EPIPE"}
    return {"written": len(data) - len(left), **errno}
