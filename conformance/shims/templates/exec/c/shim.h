#ifndef SHIM_H
#define SHIM_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* FILL IN: the name and version of your implementation. */
#define NAME "my-implementation"
#define VERSION "0.1"

/* FILL IN: its capabilities, by their names in shim-protocol.md. All others are refused. */
#define CAPABILITIES "[\"exec\"]"

/* FILL IN: the grace period after SIGTERM, and the interval of your checks. */
#define CONSTANTS "{\"grace_ms\": 5000, \"tick_ms\": 100}"

/* The fields of a request that run() supports: a request with any other field is refused. */
#define FIELDS "program", "args", "current_dir", "stdin", "env", "timeout_ms"

/* FILL IN: one run, in run.c. Returns {"result": …} or {"error": …}, which the caller frees. */
cJSON *run(const cJSON *request);

/* In text.c. Adds the output of a program to a result as text; `name` ends in _b64. */
void put(cJSON *result, const char *name, const unsigned char *data, size_t size);

#endif
