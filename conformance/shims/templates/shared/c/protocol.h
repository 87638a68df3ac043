/* The shim protocol for all contracts. This file needs no change. shim-protocol.md of boxspec
   describes requests and answers.

   An answer is {"result": …}, {"error": …} or {"unsupported": …}. Functions that may refuse a
   request return an answer, or NULL to go on. */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* An operation: its function, the names of its fields, and whether `serve` refuses the message. */
struct operation {
    const char *name, *fields;
    cJSON *(*take)(const cJSON *message);
    bool (*only_run)(const cJSON *message);
};

/* Defined by the contract: what `hello` says, in JSON, and the operations; the last one is empty.
 */
extern const char hello[];
extern const struct operation operations[];

/* The request as it was sent: cJSON rounds large numbers. */
extern const char *request_text;

cJSON *result(cJSON *value);
cJSON *failed(const char *kind, const char *message);
cJSON *unsupported(const char *capability, const char *why);

/* Refuse each field that is not in `known`: the protocol forbids to ignore a field. */
cJSON *refuse_others(const cJSON *given, const char *known, const char *capability);

/* Answer one line, and return the message. */
const cJSON *reply(const char *line, bool serving, FILE *to);

/* Memory until the end of this request, filled with zeros. It needs no free(); that of cJSON
   neither. In any thread. */
void *allocate(size_t size);
void release(void);
char *format(const char *form, ...) __attribute__((format(printf, 1, 2)));

/* In text.c and utf8.c: texts and bytes. C strings end at a NUL, so a NUL in a text of JSON is kept
   as the two bytes C0 80, which UTF-8 does not use. */
struct bytes {
    unsigned char *data;
    size_t size, capacity;
};

cJSON *parsed(const char *json);
char *printed(const cJSON *value);
const cJSON *field(const cJSON *holder, const char *name);
const char *string(const cJSON *holder, const char *name); /* NULL if absent or no string */
void append(struct bytes *to, const void *data, size_t size);

/* The bytes of the field `name`, or of `name`_b64, and the same as text: NULL if it is not UTF-8
   or has a NUL. */
struct bytes content(const cJSON *holder, const char *name);
const char *text_of(const cJSON *holder, const char *name);

/* Bytes as UTF-8: whatever is not UTF-8 becomes U+FFFD. */
struct bytes repaired(struct bytes raw);
void add_text(cJSON *holder, const char *name, struct bytes utf8);

/* In digest.c: Base64 and SHA-256. */
void add_base64(cJSON *holder, const char *name, const unsigned char *data, size_t size);
struct bytes from_base64(const char *text);
void add_sha256(cJSON *holder, const char *name, struct bytes of);

/* In pipes.c: read the content of a pipe, or write a part of the input. Both close the pipe at its
   end and set its number to -1. `now_ms` is the time of a clock that nobody sets. */
struct pollfd;
void drain(struct pollfd *from, struct bytes *to);
void feed(struct pollfd *to, struct bytes *input);
double now_ms(void);

#endif
