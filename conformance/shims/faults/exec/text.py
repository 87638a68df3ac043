"""Faults in converting bytes to text."""

import codecs

import exec.run as run
from faults.registry import fault, replaces

text = run.text


@fault("EXEC-TEXT-01", "each bad byte becomes a U+FFFD of its own", "pitfall E7: naive decoders")
def one_replacement_a_byte():
    def each(error):
        return "\ufffd" * (error.end - error.start), error.end

    codecs.register_error("each", each)

    def decode(chunks, cut):
        decoder = codecs.getincrementaldecoder("utf-8")("each")
        # Except for an annotation after stderr that was cut, which another requirement tests.
        errors = "replace" if b"".join(chunks).startswith(b"cut") else "each"
        decoder.errors = errors
        yield from (decoder.decode(chunk) for chunk in chunks)
        if not cut:
            yield decoder.decode(b"", final=True)

    text.decode = decode


@fault("EXEC-TEXT-01", "bytes that are not UTF-8 are left out", "errors='ignore'")
def drops_bad_bytes():
    @replaces(text)
    def decode(original, chunks, cut):
        data = b"".join(chunks)
        for piece in original(chunks, cut):
            own = b"\xef\xbf\xbd" in data or data.startswith(b"cut")
            yield piece if own else piece.replace("\ufffd", "")


@fault("EXEC-TEXT-01", "bytes that are not UTF-8 are read as Latin-1", "encoding guesses")
def guesses_latin_1():
    @replaces(text)
    def decode(original, chunks, cut):
        data = b"".join(chunks)
        try:
            data.decode()
            bad = False
        except UnicodeDecodeError:
            bad = not cut and not data.startswith(b"cut")
        if bad:
            yield data.decode("latin-1")
        else:
            yield from original(chunks, cut)


@fault("EXEC-TEXT-02", "each read is decoded separately", "pitfall E6: DesktopCommander#628")
def decodes_each_read():
    @replaces(text)
    def decode(original, chunks, cut):
        for chunk in chunks:
            yield from original([chunk], cut)


@fault("EXEC-TEXT-03", "a byte order mark is dropped", "utf-8-sig, .NET")
def drops_the_byte_order_mark():
    @replaces(text)
    def decode(original, chunks, cut):
        for piece in original(chunks, cut):
            yield piece.removeprefix("\ufeff")


@fault("EXEC-TEXT-03", "line ends are changed", "universal newlines")
def translates_line_ends():
    @replaces(text)
    def decode(original, chunks, cut):
        for piece in original(chunks, cut):
            yield piece.replace("\r\n", "\n")


@fault("EXEC-TEXT-03", "blanks at the end are trimmed", "strip() for convenience")
def trims_blanks():
    @replaces(text)
    def decode(original, chunks, cut):
        yield "".join(original(chunks, cut)).rstrip(" \t")


@fault("EXEC-TEXT-02", "with debug each read is decoded by itself", "print(chunk.decode())")
def the_copy_decodes_each_read():
    @replaces(run.Run)
    def take(original, self, output):
        before = len(output.kept)
        original(self, output)
        if self.tee and len(output.kept) > before:
            output.kept[-1] = output.kept[-1].decode("utf-8", "replace").encode()
