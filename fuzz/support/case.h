/* What a target is made of, and how an input of it is shown.
 *
 * A target is one file in fuzz/targets. It defines
 *
 *     bs_fuzz_target          its name
 *     LLVMFuzzerTestOneInput  begins with bs_fuzz_begin, then asks the reference and the oracles
 *     bs_fuzz_describe        decodes the input again and says what is asked, without judging
 *     LLVMFuzzerInitialize    only if it needs one
 *
 * and nothing else that is not static. The engine (libFuzzer, AFL++, the replay driver) brings
 * main.
 *
 * A describe hook says a case as the requests of the shim protocol, one or several:
 *
 *     bs_fuzz_case_open(c, "glob.match");
 *     bs_fuzz_case_text(c, "pattern", pattern, pattern_len);
 *     bs_fuzz_case_texts_open(c, "paths", paths_are_text);
 *     bs_fuzz_case_item(c, path, path_len);
 *     bs_fuzz_case_texts_close(c);
 *     bs_fuzz_case_close(c);
 *
 * Programs get one JSON line a request, with the _b64 twin of what is no text; people get a line a
 * field behind a failure.
 */
#ifndef BS_FUZZ_CASE_H
#define BS_FUZZ_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"

extern const char bs_fuzz_target[];
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bs_fuzz_case {
    bool json;
    struct bs_buf out;
    bool first;  /* nothing written yet in the innermost JSON container */
    bool base64; /* of the open list */
    const char *list;
};

void bs_fuzz_describe(struct bs_fuzz_case *c, const uint8_t *data, size_t size);

/* The input that is now looked at; borrowed until the next call. Lies are chosen by it. */
void bs_fuzz_begin(const uint8_t *data, size_t size);

/* FNV-1a of the input that was begun. */
uint64_t bs_fuzz_input_hash(void);

void bs_fuzz_case_open(struct bs_fuzz_case *c, const char *op);
void bs_fuzz_case_close(struct bs_fuzz_case *c);
void bs_fuzz_case_text(struct bs_fuzz_case *c, const char *field, const char *text, size_t len);
/* A word that is no input of the case: a format, a mode. */
void bs_fuzz_case_word(struct bs_fuzz_case *c, const char *field, const char *word);
/* A list of strings. All items share one spelling: `text` says that each of them is text. */
void bs_fuzz_case_texts_open(struct bs_fuzz_case *c, const char *field, bool text);
void bs_fuzz_case_item(struct bs_fuzz_case *c, const char *text, size_t len);
void bs_fuzz_case_texts_close(struct bs_fuzz_case *c);
/* A member whose value is JSON already; people see it as it is. */
void bs_fuzz_case_json(struct bs_fuzz_case *c, const char *field, const char *json, size_t len);

/* Whether a string of JSON can hold it: UTF-8. */
bool bs_fuzz_is_text(const char *text, size_t len);

/* The input that was begun, for people, and any input, for programs. */
void bs_fuzz_show_case(FILE *out);
void bs_fuzz_write_case(FILE *out, const uint8_t *data, size_t size);

#endif
