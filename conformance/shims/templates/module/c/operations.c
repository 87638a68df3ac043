/* The operation of the contract module. This file needs no change. */
#define _GNU_SOURCE
#include "shim.h"

#include <stdlib.h>
#include <sys/stat.h>

bool starts_a_child(const cJSON *message) { return !cJSON_IsFalse(field(message, "enabled")); }

cJSON *module_execute(const cJSON *message) {
    const char *module = string(message, "module_id"), *root = getenv("APCORE_EXTENSIONS_ROOT");
    struct bytes given = content(message, "extensions_root");
    if (!starts_a_child(message))
        return result(failure("NotWired", module, "message", "modules run only in a child"));
    if (given.size > 0)
        root = (char *)given.data;
    struct stat found;
    const char *path = format("%s/%s", root && *root ? root : "./extensions", module);
    const char *program = realpath(path, NULL);
    if (!program || stat(program, &found) != 0 || S_ISDIR(found.st_mode))
        return result(
            failure("SpawnFailed", module, "message", format("module not found: %s", path)));
    const cJSON *limit = field(message, "timeout_ms");
    double limit_ms = limit && limit->valuedouble > 0 ? limit->valuedouble : 300000;
    return result(execute(module, program, value_in(request_text, "input"), limit_ms));
}

const struct operation operations[] = {
    {"module.execute", "module_id input enabled timeout_ms extensions_root extensions_root_b64",
     module_execute, starts_a_child},
    {0},
};
