/* The operations of the contract policy. This file needs no change. */
#include "shim.h"

#include <string.h>

static const char *profile_of(const cJSON *message) {
    const char *name = string(message, "profile");
    return name ? name : "unrestricted";
}

/* Return {"error": …} for a path that is not UTF-8. */
static cJSON *refused_path(void) { return failed("invalid_input", "`path` is not UTF-8"); }

cJSON *glob_match(const cJSON *message) {
    const char *glob = text_of(message, "pattern");
    if (!glob)
        return failed("invalid_input", "`pattern` is not UTF-8");
    cJSON *told = cJSON_CreateObject(), *items = cJSON_AddArrayToObject(told, "items");
    const char *name = field(message, "paths") ? "path" : "path_b64";
    const cJSON *each;
    cJSON_ArrayForEach(each, field(message, strcmp(name, "path") ? "paths_b64" : "paths")) {
        cJSON *given = cJSON_CreateObject(), *item = cJSON_CreateObject();
        cJSON_AddStringToObject(given, name, each->valuestring);
        const char *path = text_of(given, "path");
        if (path)
            cJSON_AddBoolToObject(item, "match", matches(glob, path));
        cJSON_AddItemToArray(items, path ? item : refused_path());
    }
    return result(told);
}

cJSON *policy_resolve(const cJSON *message) {
    cJSON *spec, *refused = loaded(message, &spec);
    if (refused)
        return refused;
    const char *profile = profile_of(message);
    bool defined = field(field(spec, "fsProfiles"), profile) != NULL;
    cJSON *told = cJSON_CreateObject();
    cJSON_AddStringToObject(told, "profile", profile);
    cJSON_AddStringToObject(told, "profile_origin", defined ? "defined" : "synthesized");
    cJSON *read = cJSON_AddArrayToObject(told, "read");
    refused = resolved(spec, profile, read, cJSON_AddArrayToObject(told, "modify"));
    return refused ? refused : result(told);
}

static cJSON *checked(const cJSON *spec, const cJSON *asked) {
    cJSON *read = cJSON_CreateArray(), *modify = cJSON_CreateArray();
    const char *path = text_of(asked, "path"), *op = string(asked, "op");
    cJSON *refused = path ? resolved(spec, profile_of(asked), read, modify) : refused_path();
    return refused ? refused : check(op && strcmp(op, "read") == 0 ? read : modify, path);
}

cJSON *policy_check(const cJSON *message) {
    cJSON *spec, *refused = loaded(message, &spec), *told = cJSON_CreateObject();
    cJSON *checks = cJSON_AddArrayToObject(told, "checks");
    const cJSON *each;
    cJSON_ArrayForEach(each, field(message, "checks")) {
        if (!refused)
            refused = refuse_others(each, "op path path_b64 profile", "policy.check");
        if (refused)
            return refused;
        cJSON_AddItemToArray(checks, checked(spec, each));
    }
    return refused ? refused : result(told);
}
