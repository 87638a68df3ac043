#define _GNU_SOURCE
#include "backend/session/environment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool passes(const char *entry, size_t name_len, bool hermetic) {
    static const char *const names[] = {"PATH",   "HOME", "USER", "LOGNAME", "SHELL",
                                        "TMPDIR", "TZ",   "LANG", "LANGUAGE"};
    static const char *const categories[] = {
        "LC_ADDRESS",     "LC_ALL",       "LC_COLLATE",  "LC_CTYPE", "LC_IDENTIFICATION",
        "LC_MEASUREMENT", "LC_MESSAGES",  "LC_MONETARY", "LC_NAME",  "LC_NUMERIC",
        "LC_PAPER",       "LC_TELEPHONE", "LC_TIME"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i]) == name_len && strncmp(entry, names[i], name_len) == 0)
            return !hermetic || i == 0;
    }
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++) {
        if (strlen(categories[i]) == name_len && strncmp(entry, categories[i], name_len) == 0)
            return !hermetic;
    }
    return false;
}

int bs_env_compose(struct bs_env_list *list, bool inherits, bool hermetic,
                   const struct bs_env_pair *additions, size_t n_additions) {
    size_t n = 0;
    *list = (struct bs_env_list){.n = 0};
    while (inherits && environ != NULL && environ[n] != NULL)
        n++;
    list->pairs = calloc(n + n_additions + 1, sizeof *list->pairs);
    list->names = calloc(n + 1, sizeof *list->names);
    if (list->pairs == NULL || list->names == NULL)
        goto failure;
    size_t named = 0;
    for (size_t i = 0; i < n; i++) {
        const char *equals = strchr(environ[i], '=');
        size_t len = equals != NULL ? (size_t)(equals - environ[i]) : 0;
        if (equals == NULL || !passes(environ[i], len, hermetic))
            continue;
        list->names[named] = strndup(environ[i], len);
        if (list->names[named] == NULL)
            goto failure;
        list->pairs[list->n++] = (struct bs_env_pair){list->names[named++], equals + 1};
    }
    for (size_t i = 0; i < n_additions; i++)
        list->pairs[list->n++] = additions[i];
    return 0;
failure:
    bs_env_list_clear(list);
    return ENOMEM;
}

void bs_env_list_clear(struct bs_env_list *list) {
    for (char **name = list->names; name != NULL && *name != NULL; name++)
        free(*name);
    free(list->names);
    free(list->pairs);
    *list = (struct bs_env_list){.n = 0};
}
