/* The claims of a sandbox on this host. This file needs no change. */
#include "shim.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

/* Return true for host:port, [address]:port and *. */
static bool is_destination(const char *text) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const char *port = strrchr(text, ':');
    unsigned char address[16];
    if (!port)
        return strcmp(text, "*") == 0;
    size_t digits = strspn(port + 1, "0123456789"), length = (size_t)(port - text);
    long number = atol(port + 1);
    if (digits == 0 || digits > 5 || port[1 + digits] || number < 1 || number > 65535)
        return false;
    if (length > 2 && text[0] == '[' && port[-1] == ']')
        return inet_pton(AF_INET6, format("%.*s", (int)length - 2, text + 1), address) == 1;
    return length > 0 && strspn(text, letters) == length;
}

/* Return why the sandbox runs no program here, or NULL. */
static const char *missing(void) {
    char *folder = new_folder("probe"), *argv[] = {"true", NULL};
    if (!folder)
        return "there is no directory for temporary files";
    cJSON *request = cJSON_CreateObject();
    cJSON_AddStringToObject(request, "stdin", "null");
    char **line = command(argv, folder, folder, folder, "repo-write");
    const cJSON *done = run(request, line, folder, environment(request, folder));
    remove_folder(folder);
    if (field(done, "error"))
        return string(field(done, "error"), "message");
    if (cJSON_IsTrue(field(field(done, "result"), "success")))
        return NULL;
    return format("%s failed: %s", line[0], string(field(done, "result"), "stderr"));
}

static bool is_requested(const char *profile, const char *aspect) {
    if (strcmp(aspect, "network") == 0)
        return strcmp(profile, "no-network") == 0 || strcmp(profile, "ci-only") == 0;
    return strcmp(aspect, "ipc") != 0 || strcmp(profile, "ci-only") == 0;
}

static void add_claim(cJSON *aspects, const char *aspect, const char *claim, const char *reason) {
    cJSON *told = cJSON_AddObjectToObject(aspects, aspect);
    cJSON_AddStringToObject(told, "claim", claim);
    if (reason)
        cJSON_AddItemToObject(told, "reasons", cJSON_CreateStringArray(&reason, 1));
}

cJSON *aspects_of(const cJSON *backend, const cJSON *context, cJSON **refused) {
    const char *profile = string(context, "profile"), *why_not;
    const cJSON *egress = field(context, "egress"), *each;
    bool list = cJSON_GetArraySize(egress) > 0, fully = false, none = false;
    cJSON *told = cJSON_CreateObject(), *aspects = cJSON_AddObjectToObject(told, "aspects");
    if (!backend || strcmp(backend->valuestring, name) != 0)
        *refused = failed("invalid_input", "there is no such backend");
    else if (list && is_requested(profile, "network"))
        *refused = failed("invalid_input", "egress contradicts the profile");
    cJSON_ArrayForEach(each, egress) {
        if (!is_destination(each->valuestring))
            *refused = failed("invalid_input", "egress: not host:port, [address]:port or *");
    }
    if (*refused)
        return NULL;
    why_not = missing();
    add_claim(aspects, "fs-read", "not-requested", NULL);
    add_claim(aspects, "limits", "not-requested", NULL);
    for (size_t at = 0; claims[at][0]; at++) {
        const char *aspect = claims[at][0], *claim = claims[at][1];
        bool limited = list && strcmp(aspect, "network") == 0;
        bool wanted = limited || is_requested(profile, aspect);
        claim = why_not ? why_not : limited ? "this sandbox has no list of destinations" : claim;
        bool enforced = strcmp(claim, "fully") == 0, open = !enforced && (wanted || why_not);
        add_claim(aspects, aspect,
                  enforced ? "fully"
                  : open   ? "unavailable"
                           : "not-requested",
                  open ? claim : NULL);
        fully = fully || (wanted && enforced), none = none || (wanted && !enforced);
    }
    cJSON_AddStringToObject(told, "overall", !none ? "fully" : fully ? "partial" : "unavailable");
    cJSON_AddArrayToObject(told, "not_enforced");
    return told;
}

cJSON *probe(const cJSON *message) {
    cJSON *refused = NULL, *told = aspects_of(field(message, "backend"), message, &refused);
    return refused ? refused : result(told);
}
