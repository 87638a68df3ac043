/* A shim for boxspec, contract policy. Five places say FILL IN: name, capabilities, and how to
   match a glob, to resolve a profile and to check a path. Until then globs.c matches the rules and
   policies.c loads the files, so that `boxspec run` begins with a shim that conforms to profile
   contract. A failure is then about your code. The other files need no change. */
#include "shim.h"

#include <string.h>

/* FILL IN: the name and version of your implementation. */
#define ABOUT "{\"name\": \"my-implementation\", \"version\": \"0.1\", \"language\": \"C\"}"

/* FILL IN: its capabilities, by their names in shim-protocol.md. All others are refused. */
#define CAPABILITIES "[\"glob\", \"policy\", \"policy.json\"]"

/* FILL IN: whether a glob matches a path. */
bool matches(const char *glob, const char *path) { return glob_matches(glob, path); }

static void add(cJSON *rules, const cJSON *from, const char *form) {
    const cJSON *each;
    cJSON_ArrayForEach(each, from) {
        cJSON_AddItemToArray(rules, cJSON_CreateString(format("%s%s", form, each->valuestring)));
    }
}

/* FILL IN: add the rules of a profile and the global denies, in the order in which they count. A
   rule with `!` denies. Exceptions in denyModify are not handled here. */
cJSON *resolved(const cJSON *spec, const char *profile, cJSON *read, cJSON *modify) {
    const cJSON *rules = field(field(spec, "fsProfiles"), profile);
    if (!rules && strcmp(profile, "unrestricted") != 0)
        return failed("invalid_input", format("there is no profile `%s`", profile));
    if (!rules)
        rules = cJSON_Parse("{\"read\": [\"**\"], \"modify\": [\"**\"]}");
    add(read, field(rules, "read"), "");
    add(read, field(spec, "denyRead"), "!");
    add(modify, field(rules, "modify"), "");
    add(modify, field(spec, "denyModify"), "!");
    return NULL;
}

/* FILL IN: decide by the last rule that matches; without a match the path is denied. */
cJSON *check(const cJSON *rules, const char *path) {
    const char *matched = "[]";
    bool allowed = false;
    const cJSON *each;
    cJSON_ArrayForEach(each, rules) {
        bool denies = each->valuestring[0] == '!';
        const char *body = each->valuestring + denies;
        if (matches(body, path))
            matched = body, allowed = !denies;
        else if (!denies && strcmp(matched, "[]") == 0)
            matched = "<no matching rule>";
    }
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddBoolToObject(answer, "allowed", allowed);
    cJSON_AddStringToObject(answer, "path", path);
    cJSON_AddStringToObject(answer, "matched_rule", matched);
    return answer;
}

static bool never(const cJSON *message) { return !message; }

const char hello[] = "{\"implementation\": " ABOUT ", \"capabilities\": " CAPABILITIES "}";

const struct operation operations[] = {
    {"glob.match", "pattern pattern_b64 paths paths_b64", glob_match, never},
    {"policy.resolve", "policy profile", policy_resolve, never},
    {"policy.check", "policy checks", policy_check, never},
    {0},
};
