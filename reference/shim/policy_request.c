#define _GNU_SOURCE
#include "shim/policy_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void decode_text(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                        struct bs_policy_text *text) {
    char at[BS_POINTER_MOST];
    bool base64 = false;
    const cJSON *item = bs_decode_either(decoder, object, pointer, "text", &base64, at);
    if (item == NULL)
        bs_problem(decoder, at, "`text` (or `text_b64`) is missing");
    else if (base64 || (text->data = bs_json_view(item, &text->len)) == NULL)
        text->data = bs_decode_bytes(decoder, item, at, base64, &text->len);
    const cJSON *format = cJSON_GetObjectItemCaseSensitive(object, "format");
    text->format = bs_is_word(format, "yaml") ? BS_POLICY_YAML : BS_POLICY_JSON;
    if (text->format == BS_POLICY_JSON && !bs_is_word(format, "json"))
        bs_problem(decoder, bs_below(at, pointer, "format"), "must be \"json\" or \"yaml\"");
}

void bs_decode_texts(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                     const char *const *known, struct bs_texts *texts) {
    static const char *const known_workspace[] = {"text", "text_b64", "format", NULL};
    memset(texts, 0, sizeof *texts);
    bs_refuse_unknown(decoder, object, pointer, known);
    decode_text(decoder, object, pointer, &texts->global);
    const cJSON *workspace = cJSON_GetObjectItemCaseSensitive(object, "workspace");
    if (workspace == NULL)
        return;
    char at[BS_POINTER_MOST];
    (void)bs_below(at, pointer, "workspace");
    texts->has_workspace = true;
    if (!cJSON_IsObject(workspace)) {
        bs_problem(decoder, at, "must be an object with `text` and `format`");
        return;
    }
    bs_refuse_unknown(decoder, workspace, at, known_workspace);
    decode_text(decoder, workspace, at, &texts->workspace);
}

void bs_decode_policy(struct bs_decoder *decoder, const cJSON *request, struct bs_texts *texts) {
    static const char *const known[] = {"text", "text_b64", "format", "workspace", NULL};
    const cJSON *policy = cJSON_GetObjectItemCaseSensitive(request, "policy");
    if (cJSON_IsObject(policy))
        bs_decode_texts(decoder, policy, "/policy", known, texts);
    else
        bs_problem(decoder, "/policy", "must be an object with `text` and `format`");
}

/* A member of a check that is being decoded. A batch has many checks, so the JSON pointer is only
 * made if there is a problem. */
struct spot {
    struct bs_decoder *decoder;
    size_t index;
    char pointer[BS_POINTER_MOST];
};

static const char *pointer_of(struct spot *spot, const char *member) {
    (void)snprintf(spot->pointer, sizeof spot->pointer, "/checks/%zu%s%.64s", spot->index,
                   member[0] != '\0' ? "/" : "", member);
    return spot->pointer;
}

static const char *string_of(struct spot *spot, const cJSON *item, bool base64, size_t *len) {
    const char *text = base64 ? NULL : bs_json_view(item, len);
    return text != NULL
               ? text
               : bs_decode_bytes(spot->decoder, item, pointer_of(spot, item->string), base64, len);
}

static void decode_path(struct spot *spot, const cJSON *item, bool base64, bool again,
                        struct bs_check *check) {
    if (again)
        bs_problem(spot->decoder, pointer_of(spot, item->string),
                   "give `path` or `path_b64`, not both");
    else
        check->path = string_of(spot, item, base64, &check->len);
}

static void decode_profile(struct spot *spot, const cJSON *item, struct bs_check *check) {
    size_t len = 0;
    check->profile = string_of(spot, item, false, &len);
    /* A name with a NUL becomes the empty name, which no profile has. C would cut the name at the
     * NUL, and the rest could be the name of another profile. */
    if (check->profile != NULL && strlen(check->profile) != len)
        check->profile = "";
}

struct seen {
    bool op;
    bool path;
};

static void decode_op(struct spot *spot, const cJSON *item, struct bs_check *check) {
    check->op = bs_is_word(item, "modify") ? BS_OP_MODIFY : BS_OP_READ;
    if (check->op == BS_OP_READ && !bs_is_word(item, "read"))
        bs_problem(spot->decoder, pointer_of(spot, item->string), "must be \"read\" or \"modify\"");
}

static void decode_follow(struct spot *spot, const cJSON *item, struct bs_check *check) {
    check->follow = bs_is_word(item, "parent") ? BS_FOLLOW_PARENT : BS_FOLLOW_FINAL;
    if (check->follow == BS_FOLLOW_FINAL && !bs_is_word(item, "final"))
        bs_problem(spot->decoder, pointer_of(spot, item->string),
                   "must be \"final\" or \"parent\"");
}

/* Decode one member of a check. Returns false if a check has no such member. */
static bool decode_member(struct spot *spot, const cJSON *item, bool follows,
                          struct bs_check *check, struct seen *seen) {
    const char *name = item->string;
    if (strcmp(name, "op") == 0) {
        seen->op = true;
        decode_op(spot, item, check);
    } else if (strcmp(name, "path") == 0 || strcmp(name, "path_b64") == 0) {
        decode_path(spot, item, name[4] != '\0', seen->path, check);
        seen->path = true;
    } else if (strcmp(name, "profile") == 0) {
        decode_profile(spot, item, check);
    } else if (follows && strcmp(name, "follow") == 0) {
        decode_follow(spot, item, check);
    } else {
        return false;
    }
    return true;
}

static void decode_check(struct spot *spot, const cJSON *item, bool follows,
                         struct bs_check *check) {
    static const char *const with_follow[] = {"path", "path_b64", "op", "profile", "follow", NULL};
    static const char *const plain[] = {"path", "path_b64", "op", "profile", NULL};
    struct seen seen = {false, false};
    if (!cJSON_IsObject(item)) {
        bs_problem(spot->decoder, pointer_of(spot, ""), "must be an object with `op` and `path`");
        return;
    }
    bool unknown = false;
    for (const cJSON *member = item->child; member != NULL; member = member->next)
        unknown |= !decode_member(spot, member, follows, check, &seen);
    if (unknown)
        bs_refuse_unknown(spot->decoder, item, pointer_of(spot, ""), follows ? with_follow : plain);
    if (!seen.op)
        bs_problem(spot->decoder, pointer_of(spot, "op"), "`op` is missing");
    if (!seen.path)
        bs_problem(spot->decoder, pointer_of(spot, "path"), "`path` (or `path_b64`) is missing");
}

void bs_decode_checks(struct bs_decoder *decoder, const cJSON *request, bool follows,
                      struct bs_checks *checks) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(request, "checks");
    *checks = (struct bs_checks){NULL, 0};
    if (!cJSON_IsArray(list)) {
        bs_problem(decoder, "/checks", "must be an array of {\"op\": ..., \"path\": ...}");
        return;
    }
    size_t n = (size_t)cJSON_GetArraySize(list);
    checks->items = bs_decoder_keep(decoder, calloc(n + 1, sizeof *checks->items));
    if (checks->items == NULL)
        return;
    checks->n = n;
    struct spot spot = {.decoder = decoder};
    for (const cJSON *item = list->child; item != NULL; item = item->next) {
        decode_check(&spot, item, follows, &checks->items[spot.index]);
        spot.index++;
    }
}

bool bs_decode_fold(struct bs_decoder *decoder, const cJSON *request) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(request, "case");
    bool fold = bs_is_word(item, "fold");
    if (item != NULL && !fold && !bs_is_word(item, "sensitive"))
        bs_problem(decoder, "/case", "must be \"sensitive\" or \"fold\"");
    return fold;
}
