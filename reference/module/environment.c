#define _GNU_SOURCE
#include "module/environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module/lookup.h"

static bool starts(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

/* A token that lets its holder speak for the user is nothing for code that is not trusted. */
static bool passes(const char *name) {
    if (strcmp(name, "PATH") == 0 || strcmp(name, "LANG") == 0 || strcmp(name, "LC_ALL") == 0)
        return true;
    return starts(name, "APCORE_") && !starts(name, "APCORE_AUTH_") &&
           strcmp(name, BS_MODULE_ROOT) != 0;
}

static void add(struct bs_module_environment *made, const char *name, const char *value) {
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
    /* From the last to the first: of a name that is there twice the first counts, as for getenv,
     * and of pairs the last. */
    while (good && n-- > 0) {
        const char *equals = strchr(environ[n], '=');
        if (equals == NULL || equals == environ[n])
            continue;
        char *name = strndup(environ[n], (size_t)(equals - environ[n]));
        if (name == NULL)
            good = false;
        else if (passes(name))
            add(made, made->names[made->n] = name, equals + 1);
        else
            free(name);
    }
    if (!good) {
        bs_module_environment_clear(made);
        return false;
    }
    add(made, BS_MODULE_ROOT, root);
    add(made, "HOME", folder);
    add(made, "TMPDIR", folder);
    return true;
}

void bs_module_environment_clear(struct bs_module_environment *made) {
    for (size_t i = 0; made->names != NULL && i < made->n && made->names[i] != NULL; i++)
        free(made->names[i]);
    free(made->names);
    free(made->pairs);
    *made = (struct bs_module_environment){NULL, 0, NULL};
}
