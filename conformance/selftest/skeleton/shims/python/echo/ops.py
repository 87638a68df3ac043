"""The operations of echo."""


def say(shim, reader):
    text = spoken(reader.take("text", str, required=True))
    reader.done()
    return {"result": {"text": text}}


def spoken(text):
    return text
