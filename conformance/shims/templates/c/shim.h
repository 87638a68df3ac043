#ifndef SHIM_H
#define SHIM_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* FILL IN: the name and version of what is judged. */
#define NAME "my-implementation"
#define VERSION "0.1"

/* FILL IN: what it can do, by the names of the protocol page. What is not named is refused. */
#define CAPABILITIES "[\"exec\"]"

/* FILL IN: how long your implementation waits after SIGTERM, and how often it looks. */
#define CONSTANTS "{\"grace_ms\": 5000, \"tick_ms\": 100}"

/* The fields of a request that run() knows: with another one it is refused. */
#define FIELDS "program", "args", "current_dir", "stdin", "env", "timeout_ms"

/* FILL IN: one run, in run.c. Returns {"result": …} or {"error": …}, which the caller frees. */
cJSON *run(const cJSON *request);

/* In text.c. Adds what a program wrote to a result, as the text that it is; `name` ends in _b64. */
void put(cJSON *result, const char *name, const unsigned char *data, size_t size);

#endif
