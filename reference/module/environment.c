#define _GNU_SOURCE
#include "module/environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module/lookup.h"

static bool has_prefix(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

/* True if a variable of the caller is passed to a module. Authentication tokens are left out,
 * because they act for the user, and an untrusted module must not get them. */
static bool is_allowed(const char *name) {
    if (strcmp(name, "PATH") == 0 || strcmp(name, "LANG") == 0 || strcmp(name, "LC_ALL") == 0)
        return true;
    return has_prefix(name, "APCORE_") && !has_prefix(name, "APCORE_AUTH_") &&
           strcmp(name, BS_MODULE_ROOT) != 0;
}

static void add_pair(struct bs_module_environment *made, const char *name, const char *value) {
    made->pairs[made->n++] = (struct bs_env_pair){name, value};
}

bool bs_module_environment_make(struct bs_module_environment *made, const char *root,
                                const char *folder) {
    size_t n = 0;
    while (environ != NULL && environ[n] != NULL)
        n++;
    made->n = 0;
    made->pairs = calloc(n + 3, sizeof *made->pairs);
    made->names = calloc(n + 1, sizeof *made->names);
    bool good = made->pairs != NULL && made->names != NULL;
    /* Go backwards, because the two sides treat a repeated name differently: getenv returns its
     * first value in environ, but the last pair of a request wins. */
    while (good && n-- > 0) {
        const char *equals = strchr(environ[n], '=');
        if (equals == NULL || equals == environ[n])
            continue;
        char *name = strndup(environ[n], (size_t)(equals - environ[n]));
        if (name == NULL)
            good = false;
        else if (is_allowed(name))
            add_pair(made, made->names[made->n] = name, equals + 1);
        else
            free(name);
    }
    if (!good) {
        bs_module_environment_clear(made);
        return false;
    }
    add_pair(made, BS_MODULE_ROOT, root);
    add_pair(made, "HOME", folder);
    add_pair(made, "TMPDIR", folder);
    return true;
}

void bs_module_environment_clear(struct bs_module_environment *made) {
    for (size_t i = 0; made->names != NULL && i < made->n && made->names[i] != NULL; i++)
        free(made->names[i]);
    free(made->names);
    free(made->pairs);
    *made = (struct bs_module_environment){NULL, 0, NULL};
}
