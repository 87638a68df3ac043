/* Load a policy file in JSON, with the file of a workspace merged over it. */
#include "shim.h"

#include <string.h>

/* Return whether one of these read rules covers a modify rule. A rule with `!` covers none. */
static bool covered(const cJSON *reads, const char *modify) {
    const cJSON *each;
    cJSON_ArrayForEach(each, reads) {
        const char *read = each->valuestring;
        size_t above = strlen(read) < 3 ? 0 : strlen(read) - 3; /* length without the end */
        bool below = above > 0 && strcmp(read + above, "/**") == 0 &&
                     strncmp(read, modify, above) == 0 &&
                     (modify[above] == '\0' || modify[above] == '/');
        bool all = strcmp(read, "**") == 0 || strcmp(read, "./**") == 0;
        if (read[0] != '!' && (below || all || strcmp(read, modify) == 0))
            return true;
    }
    return false;
}

static bool are_rules(const cJSON *list) {
    const cJSON *each;
    cJSON_ArrayForEach(each, list) {
        if (!cJSON_IsString(each))
            return false;
    }
    return !list || cJSON_IsArray(list);
}

/* Return why the rules of a `spec` are wrong, or NULL. */
static const char *wrong_rules(const cJSON *spec) {
    const cJSON *profile, *rule;
    bool lists = are_rules(field(spec, "denyRead")) && are_rules(field(spec, "denyModify"));
    cJSON_ArrayForEach(profile, field(spec, "fsProfiles")) {
        const cJSON *read = field(profile, "read"), *modify = field(profile, "modify");
        lists = lists && are_rules(read) && are_rules(modify);
        cJSON_ArrayForEach(rule, modify) {
            if (lists && rule->valuestring[0] != '!' && !covered(read, rule->valuestring))
                return format("profile %s: no read rule covers the modify rule %s", profile->string,
                              rule->valuestring);
        }
    }
    return lists ? NULL : "a list of rules is no list of texts";
}

static cJSON *spec_of(const cJSON *source, cJSON **spec) {
    const char *text = text_of(source, "text");
    cJSON *file = text ? parsed(text) : NULL;
    const cJSON *version = field(file, "schemaVersion");
    const char *kind = string(file, "kind");
    *spec = cJSON_GetObjectItemCaseSensitive(file, "spec");
    if (!file)
        return failed("invalid_input", "the policy is not JSON in UTF-8");
    if (!cJSON_IsNumber(version) || version->valuedouble != 2 || !kind ||
        strcmp(kind, "Policy") != 0 || !string(field(file, "metadata"), "name") ||
        !cJSON_IsObject(*spec))
        return failed("invalid_input", "it is no Policy of version 2 with a name");
    const char *wrong = wrong_rules(*spec);
    return wrong ? failed("invalid_input", wrong) : NULL;
}

/* Merge the `spec` of a workspace over the global one. A profile of the workspace replaces the
   global one of its name. Its denies come last. */
static void merge(cJSON *above, const cJSON *below) {
    const cJSON *part, *rule;
    cJSON_ArrayForEach(part, below) {
        cJSON *to = cJSON_GetObjectItemCaseSensitive(above, part->string);
        if (!to) {
            cJSON_AddItemToObject(above, part->string, cJSON_Duplicate(part, true));
            continue;
        }
        cJSON_ArrayForEach(rule, part) {
            if (cJSON_IsArray(to)) {
                cJSON_AddItemToArray(to, cJSON_Duplicate(rule, true));
            } else {
                cJSON_DeleteItemFromObjectCaseSensitive(to, rule->string);
                cJSON_AddItemToObject(to, rule->string, cJSON_Duplicate(rule, true));
            }
        }
    }
}

cJSON *loaded(const cJSON *message, cJSON **spec) {
    const cJSON *source = field(message, "policy"), *workspace = field(source, "workspace");
    const char *form = string(source, "format");
    cJSON *below, *refused = refuse_others(source, "format text text_b64 workspace", "policy");
    if (!refused && (!form || strcmp(form, "json") != 0))
        refused = unsupported("policy.yaml", "not in this shim");
    if (!refused)
        refused = spec_of(source, spec);
    if (refused || !workspace)
        return refused;
    refused = refuse_others(workspace, "format text text_b64", "policy");
    if (!refused)
        refused = spec_of(workspace, &below);
    if (!refused)
        merge(*spec, below);
    return refused;
}
