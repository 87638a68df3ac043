/* The sessions of a sandbox: the calls. This file needs no change. */
#define _GNU_SOURCE
#include "shim.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Return `path`, relative to `root`, without links; NULL if there is no such directory. */
static const char *place(const char *root, const char *path) {
    struct stat found;
    char *full = realpath(!root || *path == '/' ? path : format("%s/%s", root, path), NULL);
    return full && stat(full, &found) == 0 && S_ISDIR(found.st_mode) ? full : NULL;
}

static void add_log(cJSON *log, const char *call, bool ok) {
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddStringToObject(entry, "call", call);
    cJSON_AddBoolToObject(entry, "ok", ok);
    cJSON_AddItemToArray(log, entry);
}

/* Run all calls, and set their answers. */
static cJSON *calls(const cJSON *message, cJSON *told, const char *root, const char *at,
                    bool confine) {
    const char *profile = string(field(message, "context"), "profile");
    cJSON *answers = cJSON_AddArrayToObject(told, "calls"), *refused = NULL;
    cJSON *log = cJSON_GetObjectItemCaseSensitive(told, "log");
    const char *scratch = new_folder("scratch");
    const cJSON *call, *arg;
    if (!scratch)
        return failed("io", "there is no directory for temporary files");
    cJSON_ArrayForEach(call, field(message, "calls")) {
        const cJSON *request = field(call, "request"), *args = field(request, "args");
        char **argv = allocate(((size_t)cJSON_GetArraySize(args) + 2) * sizeof *argv);
        char **next = argv;
        refused =
            refuse_others(request, "program args current_dir stdin env timeout_ms", "exec.run");
        if (refused)
            break;
        *next++ = (char *)string(request, "program");
        cJSON_ArrayForEach(arg, args) *next++ = arg->valuestring;
        const char *folder = string(request, "current_dir");
        const char *cwd = folder ? place(root, folder) : at;
        cwd = cwd ? cwd : folder;
        char **line = confine ? command(argv, root, scratch, cwd, profile) : argv;
        cJSON *done = run(request, line, cwd, environment(request, scratch));
        bool ran = field(done, "result") != NULL;
        if (ran)
            cJSON_AddStringToObject(done->child, "enforcement", string(told, "enforcement"));
        cJSON_AddItemToArray(answers, done);
        add_log(log, "wrap", true), add_log(log, "run", ran);
    }
    remove_folder(scratch);
    add_log(log, "shutdown", true);
    return refused;
}

cJSON *session(const cJSON *message) {
    const cJSON *context = field(message, "context"), *aspect, *reason;
    cJSON *refused = refuse_others(context, "root cwd profile egress", "backend.policy");
    cJSON *probed = refused ? NULL : aspects_of(field(message, "backend"), context, &refused);
    if (refused)
        return refused;
    const char *root = place(NULL, string(context, "root")), *cwd = string(context, "cwd");
    const char *at = !root || !cwd ? root : place(root, cwd),
               *mode = string(message, "on_unavailable");
    if (!root || !at || strncmp(at, root, strlen(root)) != 0 ||
        (at[strlen(root)] != '/' && at[strlen(root)] != '\0' && root[1]))
        return failed("invalid_input", "the root or the cwd is no directory of the workspace");
    const char *overall = string(probed, "overall");
    bool opened = strcmp(overall, "fully") == 0 || (mode && strcmp(mode, "degrade") == 0);
    bool confine = strcmp(overall, "unavailable") != 0;
    cJSON *told = cJSON_CreateObject(), *reasons = cJSON_AddArrayToObject(told, "reasons");
    cJSON_ArrayForEach(aspect, field(probed, "aspects")) {
        cJSON_ArrayForEach(reason, field(aspect, "reasons"))
            cJSON_AddItemToArray(reasons, cJSON_Duplicate(reason, true));
    }
    cJSON_AddStringToObject(told, "session", opened ? "opened" : "refused");
    cJSON_AddStringToObject(told, "enforcement", opened && confine ? overall : "none");
    cJSON_AddItemToObject(told, "claims", probed);
    cJSON_AddArrayToObject(told, "not_enforced");
    cJSON *warnings = cJSON_AddArrayToObject(told, "warnings");
    add_log(cJSON_AddArrayToObject(told, "log"), "probe", true);
    if (!opened) {
        cJSON_AddStringToObject(told, "why", format("the sandbox is %s", overall));
        cJSON_AddArrayToObject(told, "calls");
        return result(told);
    }
    if (!confine)
        cJSON_AddItemToArray(warnings, cJSON_CreateString("the calls run WITHOUT a sandbox"));
    refused = calls(message, told, root, at, confine);
    return refused ? refused : result(told);
}
