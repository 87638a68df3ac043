/* The interface of a target, and functions that show its inputs.
 *
 * A target is one file in fuzz/targets. It defines
 *
 *     bs_fuzz_target          its name
 *     LLVMFuzzerTestOneInput  calls bs_fuzz_begin, then the reference and the oracles
 *     bs_fuzz_describe        decodes the input again and describes the requests, without judging
 *     LLVMFuzzerInitialize    only if the target needs one
 *
 * All its other functions are static. The engine (libFuzzer, AFL++, the replay driver) has main().
 *
 * A describe hook writes a case as one or more requests of the shim protocol:
 *
 *     bs_fuzz_case_open(c, "glob.match");
 *     bs_fuzz_case_text(c, "pattern", pattern, pattern_len);
 *     bs_fuzz_case_texts_open(c, "paths", paths_are_text);
 *     bs_fuzz_case_item(c, path, path_len);
 *     bs_fuzz_case_texts_close(c);
 *     bs_fuzz_case_close(c);
 *
 * A program gets each request as one line of JSON, in which a string that is not UTF-8 is in the
 * _b64 field. A person gets each field as one line after the failure. */
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
    bool first;  /* nothing was written yet to the innermost JSON container */
    bool base64; /* the items of the open list are written in base64 */
    const char *list;
};

void bs_fuzz_describe(struct bs_fuzz_case *c, const uint8_t *data, size_t size);

/* Set the current input, which is borrowed until the next call. The choices of bs_fuzz_lie depend
 * on the input's hash. */
void bs_fuzz_begin(const uint8_t *data, size_t size);

/* Return the FNV-1a hash of the current input. */
uint64_t bs_fuzz_input_hash(void);

void bs_fuzz_case_open(struct bs_fuzz_case *c, const char *op);
void bs_fuzz_case_close(struct bs_fuzz_case *c);
void bs_fuzz_case_text(struct bs_fuzz_case *c, const char *field, const char *text, size_t len);
/* Write a field whose value is not part of the input, such as a format or a mode. */
void bs_fuzz_case_word(struct bs_fuzz_case *c, const char *field, const char *word);
/* Begin a list of strings, which are all written in the same way: as text if `text` is true (every
 * item must be UTF-8), otherwise in base64. */
void bs_fuzz_case_texts_open(struct bs_fuzz_case *c, const char *field, bool text);
void bs_fuzz_case_item(struct bs_fuzz_case *c, const char *text, size_t len);
void bs_fuzz_case_texts_close(struct bs_fuzz_case *c);
/* Write a field whose value is JSON already. People see the value unchanged. */
void bs_fuzz_case_json(struct bs_fuzz_case *c, const char *field, const char *json, size_t len);

/* True if the bytes are UTF-8, so that a JSON string can hold them. */
bool bs_fuzz_is_text(const char *text, size_t len);

/* Show the current input to people. bs_fuzz_write_case writes any input as JSON for programs. */
void bs_fuzz_show_case(FILE *out);
void bs_fuzz_write_case(FILE *out, const uint8_t *data, size_t size);

#endif
