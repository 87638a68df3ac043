#include "sbpl/regex.h"

#include <string.h>

#include <boxspec/sbpl.h>

#include "sbpl/spell.h"

/* Expressions for `?`, which matches one character. It is not known whether the expressions of the
 * kernel count bytes or characters. So the expression of a deny matches both, and that of an allow
 * matches only characters of one byte. With folding, a character can have spellings of up to nine
 * bytes (three jamo). */
static const char question_in_allow[] = "[ -.0-~]";
static const char question_in_deny[] = "([ -.0-~]|[^ -~][^ -~]?[^ -~]?[^ -~]?)";
static const char question_in_folded_deny[] =
    "[^/][^ -~]?[^ -~]?[^ -~]?[^ -~]?[^ -~]?[^ -~]?[^ -~]?[^ -~]?";

/* The longest text that one step writes, not counting unfolded letters. */
enum { STEP = sizeof question_in_folded_deny };

struct writer {
    const struct bs_filters *filters;
    struct bs_buf *out;
    size_t start; /* where the string starts in `out` */
    char *to;     /* the end of the written text, which sync() copies to out->len */
    char *end;    /* the end of the room for the string */
    bool deny;
};

/* Reserve memory for a whole string at once. This is not too much, because the length of a string
 * is limited. */
static bool open_writer(struct writer *writer) {
    struct bs_buf *out = writer->out;
    size_t used = out->len - writer->start;
    size_t left = used < BS_SBPL_STRING_BYTES ? BS_SBPL_STRING_BYTES - used : 0;
    size_t room = left * BS_SPELL_LONGEST + STEP;
    bool fits = !out->failed && out->cap - out->len > room;
    if (!fits && !bs_buf_reserve(out, room))
        return false;
    writer->to = writer->out->data + writer->out->len;
    writer->end = writer->to + left;
    return true;
}

static void sync(struct writer *writer) {
    writer->out->len = (size_t)(writer->to - writer->out->data);
}

static void put(struct writer *writer, const char *text, size_t len) {
    memcpy(writer->to, text, len);
    writer->to += len;
}

#define PUT(writer, text) put(writer, text, sizeof(text) - 1)

static void put_question(struct writer *writer) {
    if (!writer->deny)
        PUT(writer, question_in_allow);
    else if (writer->filters->unfold == NULL)
        PUT(writer, question_in_deny);
    else
        PUT(writer, question_in_folded_deny);
}

/* Write the letters up to the next wildcard or slash, each letter with all its spellings. Returns
 * NULL if the string becomes too long, or if memory ran out. */
static const char *put_unfolded(struct writer *writer, const char *text, const char *end) {
    const char *next = text;
    while (next < end && *next != '*' && *next != '?' && *next != '/')
        next++;
    sync(writer);
    bool good = bs_unfold_put(writer->filters->unfold, text, (size_t)(next - text),
                              (size_t)(writer->end - writer->to), writer->out);
    return good && open_writer(writer) ? next : NULL;
}

/* Write the wildcards at the start of the text that are whole segments. Returns the text after
 * them. */
static const char *put_segment_wildcards(struct writer *writer, const char *text, const char *end) {
    const char *from = text;
    while (end - text >= 3 && memcmp(text, "**/", 3) == 0)
        text += 3;
    if (text > from)
        PUT(writer, "(.*/)?");
    if (text < end && *text == '*' && (text + 1 == end || text[1] == '/')) {
        PUT(writer, "[^/]+");
        text++;
    }
    return text;
}

static const char *put_wildcard(struct writer *writer, const char *text, const char *end) {
    if (*text == '?') {
        put_question(writer);
        return text + 1;
    }
    if (text + 1 < end && text[1] == '*') {
        PUT(writer, ".*");
        return text + 2;
    }
    PUT(writer, "[^/]*");
    return text + 1;
}

/* Write text without wildcards, up to the next wildcard. */
static const char *put_literal(struct writer *writer, const char *text, const char *end) {
    char *to = writer->to;
    if (writer->filters->unfold != NULL && *text == '/') {
        *writer->to++ = *text;
        return text + 1;
    }
    if (writer->filters->unfold != NULL)
        return put_unfolded(writer, text, end);
    const struct bs_spelled *spelled = &writer->filters->spelled;
    /* one byte more than fits, so that a string that is too long is noticed */
    size_t most = (size_t)(writer->end - to) + 1;
    if ((size_t)(end - text) > most)
        end = text + most;
    for (; text < end; text++) {
        unsigned char c = (unsigned char)*text;
        size_t n = spelled->lens[c];
        if (n == 0)
            break;
        memcpy(to, spelled->bytes[c], sizeof spelled->bytes[c]);
        to += n;
    }
    writer->to = to;
    return text;
}

bool bs_regex_put(const struct bs_filters *filters, const struct bs_body *body, bool deny,
                  size_t start, struct bs_buf *out) {
    struct writer writer = {filters, out, start, NULL, NULL, deny};
    const char *at = body->text;
    const char *end = at + body->top;
    if (!open_writer(&writer))
        return false;
    while (at != NULL && at < end && writer.to <= writer.end) {
        const char *before = at;
        if (*at == '*' && (at == body->text || at[-1] == '/'))
            at = put_segment_wildcards(&writer, at, end);
        if (at == before)
            at = *at == '*' || *at == '?' ? put_wildcard(&writer, at, end)
                                          : put_literal(&writer, at, end);
    }
    if (at != end)
        return false;
    if (body->top < body->len)
        PUT(&writer, "(/.*)?");
    sync(&writer);
    return true;
}
