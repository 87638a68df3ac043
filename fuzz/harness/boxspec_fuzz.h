/* Fuzz your parser in its own process, judged by this file only: C99 or C++11; libFuzzer, AFL++ or
 * no engine.
 *
 *     #include "boxspec_fuzz.h"
 *     #include "your_parser.h"
 *
 *     static int take(const char *text, size_t len) {
 *         struct your_value *value = your_parse(text, len);
 *         your_free(value);
 *         return value != NULL;
 *     }
 *
 *     BOXSPEC_FUZZ_JSON(take)
 *
 * `take` returns nonzero if the parser accepts these bytes, which do not end in a NUL. It frees all
 * that it allocates. README.md in this folder has the commands.
 *
 * BOXSPEC_FUZZ_JSON judges a parser of JSON (RFC 8259):
 *
 *     taken    it accepts a text that is not well-formed
 *     refused  it refuses a well-formed text where a parser has no choice: nesting below 65, plain
 *              numbers, names without repetition, no escaped NUL or unpaired surrogate
 *
 * BOXSPEC_FUZZ_POLICY_JSON judges a loader of policies in JSON. A well-formed text need not be a
 * policy, so `refused` never fires. `taken` fires in addition for a nesting of more than 64, an
 * escaped NUL, an unpaired surrogate and a top level that is not an object.
 *
 * BOXSPEC_FUZZ_BYTES uses neither and suits any parser. All three also use:
 *
 *     again    the same text has another outcome the second time
 *     input    the parser wrote to the text
 *
 * Each call gets the text in a heap block of exactly its size, so a sanitizer detects every read
 * before or after it. An oracle that fires prints `boxspec-fuzz: ORACLE: ...` to stderr and aborts.
 *
 * If BOXSPEC_FUZZ_MAIN is defined there is a main() that checks the files of its command line: for
 * a plain compiler, or for a corpus in a unit test.
 */
#ifndef BOXSPEC_FUZZ_H
#define BOXSPEC_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum boxspec_fuzz_format { BOXSPEC_FUZZ_ANY, BOXSPEC_FUZZ_VALUE, BOXSPEC_FUZZ_POLICY };

/* The result of reading JSON. `is_open` is set if the text is well-formed but a parser may refuse
 * it, `is_barred` if it is well-formed but not allowed in a policy. */
struct boxspec_fuzz_json {
    const unsigned char *at;
    const unsigned char *end;
    int is_open;
    int is_barred;
};

enum { BOXSPEC_FUZZ_DEPTH = 64 };

static inline unsigned boxspec_fuzz_peek(const struct boxspec_fuzz_json *r) {
    return r->at < r->end ? *r->at : 256U;
}

static inline int boxspec_fuzz_eat(struct boxspec_fuzz_json *r, unsigned byte) {
    int is_there = boxspec_fuzz_peek(r) == byte;
    r->at += is_there;
    return is_there;
}

static inline void boxspec_fuzz_blanks(struct boxspec_fuzz_json *r) {
    while (r->at < r->end && memchr(" \t\r\n", *r->at, 4) != NULL)
        r->at++;
}

static inline int boxspec_fuzz_digits(struct boxspec_fuzz_json *r) {
    const unsigned char *from = r->at;
    while (boxspec_fuzz_peek(r) >= '0' && boxspec_fuzz_peek(r) <= '9')
        r->at++;
    return r->at > from;
}

static inline int boxspec_fuzz_number(struct boxspec_fuzz_json *r) {
    const unsigned char *from = r->at;
    (void)boxspec_fuzz_eat(r, '-');
    if (!boxspec_fuzz_eat(r, '0') && !boxspec_fuzz_digits(r))
        return 0;
    if (boxspec_fuzz_eat(r, '.') && !boxspec_fuzz_digits(r))
        return 0;
    if (boxspec_fuzz_eat(r, 'e') || boxspec_fuzz_eat(r, 'E')) {
        r->is_open = 1; /* the number may be out of range */
        if (!boxspec_fuzz_eat(r, '+'))
            (void)boxspec_fuzz_eat(r, '-');
        if (!boxspec_fuzz_digits(r))
            return 0;
    }
    if (r->at - from > 15)
        r->is_open = 1;
    return 1;
}

/* Return the value of the four hexadecimal digits after \u, or -1. */
static inline long boxspec_fuzz_hex(struct boxspec_fuzz_json *r) {
    long value = 0;
    int i;
    for (i = 0; i < 4; i++, r->at++) {
        unsigned c = boxspec_fuzz_peek(r);
        if (c >= '0' && c <= '9')
            value = value * 16 + (long)(c - '0');
        else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
            value = value * 16 + (long)((c | 0x20U) - 'a' + 10U);
        else
            return -1;
    }
    return value;
}

static inline int boxspec_fuzz_escape(struct boxspec_fuzz_json *r) {
    unsigned c = boxspec_fuzz_peek(r);
    long code;
    if (c == 256U)
        return 0;
    r->at++;
    if (c != 'u')
        return memchr("\"\\/bfnrt", (int)c, 8) != NULL;
    code = boxspec_fuzz_hex(r);
    if (code == 0 || (code >= 0xDC00 && code <= 0xDFFF)) {
        r->is_open = r->is_barred = 1;
    } else if (code >= 0xD800 && code <= 0xDBFF) {
        const unsigned char *behind = r->at;
        long low = boxspec_fuzz_eat(r, '\\') && boxspec_fuzz_eat(r, 'u') ? boxspec_fuzz_hex(r) : -1;
        if (low < 0xDC00 || low > 0xDFFF) {
            r->at = behind; /* the escape that follows is read by the next call */
            r->is_open = r->is_barred = 1;
        }
    }
    return code >= 0;
}

/* Read one UTF-8 character of several bytes. It must have the shortest form, must not be a
 * surrogate, and must be below 110000. */
static inline int boxspec_fuzz_wide(struct boxspec_fuzz_json *r) {
    unsigned lead = boxspec_fuzz_peek(r);
    unsigned low = 0x80, high = 0xBF;
    int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC2 || lead > 0xF4)
        return 0;
    if (lead == 0xE0)
        low = 0xA0;
    if (lead == 0xED)
        high = 0x9F;
    if (lead == 0xF0)
        low = 0x90;
    if (lead == 0xF4)
        high = 0x8F;
    for (r->at++; more > 0; more--, r->at++, low = 0x80, high = 0xBF) {
        if (boxspec_fuzz_peek(r) < low || boxspec_fuzz_peek(r) > high)
            return 0;
    }
    return 1;
}

static inline int boxspec_fuzz_string(struct boxspec_fuzz_json *r) {
    if (!boxspec_fuzz_eat(r, '"'))
        return 0;
    while (!boxspec_fuzz_eat(r, '"')) {
        unsigned c = boxspec_fuzz_peek(r);
        if (c == 256U || c < 0x20)
            return 0;
        if (c >= 0x80) {
            if (!boxspec_fuzz_wide(r))
                return 0;
            continue;
        }
        r->at++;
        if (c == '\\' && !boxspec_fuzz_escape(r))
            return 0;
    }
    return 1;
}

static inline int boxspec_fuzz_word(struct boxspec_fuzz_json *r, const char *word) {
    while (*word != '\0' && boxspec_fuzz_eat(r, (unsigned char)*word))
        word++;
    return *word == '\0';
}

static inline int boxspec_fuzz_scalar(struct boxspec_fuzz_json *r) {
    switch (boxspec_fuzz_peek(r)) {
    case '"':
        return boxspec_fuzz_string(r);
    case 't':
        return boxspec_fuzz_word(r, "true");
    case 'f':
        return boxspec_fuzz_word(r, "false");
    case 'n':
        return boxspec_fuzz_word(r, "null");
    default:
        return boxspec_fuzz_number(r);
    }
}

/* True if the name in [from, end) also occurs somewhere before it in the text. This may be true
 * without a real repetition, because an escape may hide one, and a name of another object counts
 * too. If it is true, the parser may accept or refuse the text. */
static inline int boxspec_fuzz_is_repeated(const unsigned char *text, const unsigned char *from,
                                           const unsigned char *end) {
    size_t len = (size_t)(end - from);
    const unsigned char *at;
    if (memchr(from, '\\', len) != NULL)
        return 1;
    for (at = text; at < from; at++) {
        if (*at == '\\' || ((size_t)(from - at) >= len && memcmp(at, from, len) == 0))
            return 1;
    }
    return 0;
}

/* True if the text is one JSON value. A text with a nesting deeper than 64 is not examined further
 * and counts as well-formed. */
static inline int boxspec_fuzz_is_json(const char *text, size_t len, struct boxspec_fuzz_json *r) {
    char open[BOXSPEC_FUZZ_DEPTH];
    int depth = 0;
    const unsigned char *const begin = (const unsigned char *)text;
    r->at = begin;
    r->end = begin + len;
    r->is_open = r->is_barred = 0;
    boxspec_fuzz_blanks(r);
    if (boxspec_fuzz_peek(r) != '{')
        r->is_barred = 1;
    for (;;) {
        int is_whole = 0;
        unsigned c;
        boxspec_fuzz_blanks(r);
        c = boxspec_fuzz_peek(r);
        if (c == '{' || c == '[') {
            if (depth == BOXSPEC_FUZZ_DEPTH) {
                r->is_open = r->is_barred = 1;
                return 1;
            }
            r->at++;
            open[depth++] = (char)c;
            boxspec_fuzz_blanks(r);
            is_whole = boxspec_fuzz_eat(r, c == '{' ? '}' : ']');
            depth -= is_whole;
        } else if (boxspec_fuzz_scalar(r)) {
            is_whole = 1;
        } else {
            return 0;
        }
        /* A value is complete, so a comma or the end of its container must follow. */
        while (is_whole) {
            boxspec_fuzz_blanks(r);
            if (depth == 0)
                return r->at == r->end;
            if (boxspec_fuzz_eat(r, ','))
                break;
            if (!boxspec_fuzz_eat(r, open[depth - 1] == '{' ? '}' : ']'))
                return 0;
            depth--;
        }
        if (depth > 0 && open[depth - 1] == '{') {
            const unsigned char *name;
            boxspec_fuzz_blanks(r);
            name = r->at;
            if (!boxspec_fuzz_string(r))
                return 0;
            if (!r->is_open && boxspec_fuzz_is_repeated(begin, name, r->at))
                r->is_open = 1;
            boxspec_fuzz_blanks(r);
            if (!boxspec_fuzz_eat(r, ':'))
                return 0;
        }
    }
}

static inline void boxspec_fuzz_fail(const char *oracle, const char *what, const uint8_t *data,
                                     size_t size) {
    size_t i;
    fprintf(stderr, "boxspec-fuzz: %s: %s\n  input  ", oracle, what);
    for (i = 0; i < size && i < 2048; i++) {
        if (data[i] >= 0x20 && data[i] < 0x7F && data[i] != '\\')
            fputc(data[i], stderr);
        else
            fprintf(stderr, "\\x%02x", data[i]);
    }
    fprintf(stderr, "\n");
    fflush(stderr);
    abort();
}

/* Call the parser once on a copy of the text. The copy of an empty text is the end of a block of
 * one byte, so that reading its first byte is an error. */
static inline int boxspec_fuzz_look(int (*take)(const char *, size_t), const uint8_t *data,
                                    size_t size) {
    char *block = (char *)malloc(size > 0 ? size : 1);
    char *text = size > 0 ? block : block + 1;
    int taken;
    if (block == NULL)
        exit(2);
    if (size > 0)
        memcpy(block, data, size);
    taken = take(text, size) != 0;
    if (size > 0 && memcmp(block, data, size) != 0)
        boxspec_fuzz_fail("input", "the text was written to", data, size);
    free(block);
    return taken;
}

static inline int boxspec_fuzz_one(int (*take)(const char *, size_t),
                                   enum boxspec_fuzz_format format, const uint8_t *data,
                                   size_t size) {
    struct boxspec_fuzz_json json;
    int taken = boxspec_fuzz_look(take, data, size);
    if (taken != boxspec_fuzz_look(take, data, size))
        boxspec_fuzz_fail("again", "a second time the outcome is another one", data, size);
    if (format == BOXSPEC_FUZZ_ANY)
        return 0;
    if (!boxspec_fuzz_is_json((const char *)data, size, &json)) {
        if (taken)
            boxspec_fuzz_fail("taken", "this is not well-formed, and is taken", data, size);
    } else if (format == BOXSPEC_FUZZ_POLICY && json.is_barred && taken) {
        boxspec_fuzz_fail("taken", "this must not stand in a policy, and is taken", data, size);
    } else if (format == BOXSPEC_FUZZ_VALUE && !json.is_open && !taken) {
        boxspec_fuzz_fail("refused", "this is well-formed, and is refused", data, size);
    }
    return 0;
}

#ifdef __cplusplus
#define BOXSPEC_FUZZ_C extern "C"
#else
#define BOXSPEC_FUZZ_C
#endif

#define BOXSPEC_FUZZ_TARGET_(take, format)                                                         \
    BOXSPEC_FUZZ_C int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);                   \
    BOXSPEC_FUZZ_C int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {                  \
        return boxspec_fuzz_one(take, format, data, size);                                         \
    }                                                                                              \
    BOXSPEC_FUZZ_MAIN_

#define BOXSPEC_FUZZ_JSON(take) BOXSPEC_FUZZ_TARGET_(take, BOXSPEC_FUZZ_VALUE)
#define BOXSPEC_FUZZ_POLICY_JSON(take) BOXSPEC_FUZZ_TARGET_(take, BOXSPEC_FUZZ_POLICY)
#define BOXSPEC_FUZZ_BYTES(take) BOXSPEC_FUZZ_TARGET_(take, BOXSPEC_FUZZ_ANY)

#ifdef BOXSPEC_FUZZ_MAIN
static inline int boxspec_fuzz_files(int (*one)(const uint8_t *, size_t), int n, char **names) {
    int i;
    for (i = 1; i < n; i++) {
        FILE *in = fopen(names[i], "rb");
        static uint8_t data[1 << 20];
        size_t size = in != NULL ? fread(data, 1, sizeof data, in) : 0;
        if (in == NULL || ferror(in)) {
            fprintf(stderr, "boxspec-fuzz: %s: cannot be read\n", names[i]);
            return 2;
        }
        (void)fclose(in);
        (void)one(data, size);
    }
    printf("%d inputs replayed\n", n - 1);
    return 0;
}
#define BOXSPEC_FUZZ_MAIN_                                                                         \
    int main(int argc, char **argv) {                                                              \
        return boxspec_fuzz_files(LLVMFuzzerTestOneInput, argc, argv);                             \
    }
#else
#define BOXSPEC_FUZZ_MAIN_
#endif

#endif
