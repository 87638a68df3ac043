/* A shim for boxspec, contract module. Three places say FILL IN: name, capabilities, and how to
   execute a module. Until then modules are executed by running.c, so that `boxspec run` begins with
   a shim that conforms to profile contract. A failure is then about your code. The other files need
   no change. */
#define _GNU_SOURCE
#include "shim.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* FILL IN: the name and version of your implementation. */
#define ABOUT "{\"name\": \"my-implementation\", \"version\": \"0.1\", \"language\": \"C\"}"

/* FILL IN: its capabilities, by their names in shim-protocol.md. All others are refused. */
#define CAPABILITIES "[\"module\"]"

/* Return {"error": {"class": …}}; the caller adds the fields of the class. */
cJSON *failure(const char *class, const char *module, const char *name, const char *value) {
    cJSON *told = cJSON_CreateObject(), *error = cJSON_AddObjectToObject(told, "error");
    cJSON_AddStringToObject(error, "class", class);
    cJSON_AddStringToObject(error, "module_id", module);
    if (name)
        cJSON_AddStringToObject(error, name, value);
    return told;
}

/* Return the environment of a module: a few variables of the caller, and no secret. */
static char **environment(const char *folder) {
    size_t count = 0;
    while (environ[count])
        count++;
    char **given = allocate((count + 3) * sizeof *given), **next = given;
    *next++ = format("HOME=%s", folder);
    *next++ = format("TMPDIR=%s", folder);
    for (char **each = environ; *each; each++) {
        bool own = strncmp(*each, "APCORE_", 7) == 0 && strncmp(*each, "APCORE_AUTH_", 12) != 0;
        if (own || strncmp(*each, "PATH=", 5) == 0 || strncmp(*each, "LANG=", 5) == 0 ||
            strncmp(*each, "LC_ALL=", 7) == 0)
            *next++ = *each;
    }
    return given;
}

static int removed(const char *path, const struct stat *of, int kind, struct FTW *at) {
    (void)of, (void)kind, (void)at;
    return remove(path), 0;
}

/* FILL IN: execute one module in a child process; return `value` or `error`. */
cJSON *execute(const char *module, const char *program, const char *input, double limit_ms) {
    const char *base = getenv("TMPDIR"), *why = NULL;
    char *folder = mkdtemp(format("%s/module-XXXXXX", base ? base : "/tmp"));
    char *full = folder ? realpath(folder, NULL) : NULL;
    if (!full)
        return failure("SpawnFailed", module, "message", strerror(errno));
    struct bytes given = {0};
    append(&given, input, strlen(input));
    struct ending end = run(program, given, limit_ms, full, environment(full));
    nftw(full, removed, 64, FTW_DEPTH | FTW_PHYS);
    free(full);
    if (end.why_not)
        return failure("SpawnFailed", module, "message", strerror(end.why_not));
    cJSON *told = failure(end.early ? "Timeout" : "NonZeroExit", module, NULL, NULL);
    if (end.early && strcmp(end.early, "Timeout") != 0)
        return failure("Interrupted", module, "signal", end.early);
    if (end.early)
        cJSON_AddNumberToObject(told->child, "timeout_ms", limit_ms);
    else
        cJSON_AddNumberToObject(told->child, "exit_code", end.code);
    add_text(told->child, "stderr", repaired(end.err));
    if (end.early || end.code != 0)
        return told;
    const char *value = value_of(end.out, &why);
    if (!value)
        return failure("OutputParseFailed", module, "reason", why);
    told = cJSON_CreateObject();
    cJSON_AddRawToObject(told, "value", value);
    return told;
}

const char hello[] = "{\"implementation\": " ABOUT ", \"capabilities\": " CAPABILITIES "}";
