#ifndef SHIM_H
#define SHIM_H

#include "protocol.h"

/* In shim.c, the places for your code. */
bool matches(const char *glob, const char *path);
cJSON *resolved(const cJSON *spec, const char *profile, cJSON *read, cJSON *modify);
cJSON *check(const cJSON *rules, const char *path);

/* In policies.c. Set the `spec` of a policy, or return an answer if a required part is missing. */
cJSON *loaded(const cJSON *message, cJSON **spec);

/* In globs.c. */
bool glob_matches(const char *glob, const char *path);

/* In operations.c. */
cJSON *glob_match(const cJSON *message);
cJSON *policy_resolve(const cJSON *message);
cJSON *policy_check(const cJSON *message);

#endif
