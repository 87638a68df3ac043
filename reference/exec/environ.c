#define _GNU_SOURCE
#include "exec/environ.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct entry {
    char *text; /* NAME=value */
    size_t name_len;
    size_t order;
};

static int by_name_then_order(const void *a, const void *b) {
    const struct entry *x = a;
    const struct entry *y = b;
    size_t shorter = x->name_len < y->name_len ? x->name_len : y->name_len;
    int cmp = memcmp(x->text, y->text, shorter);
    if (cmp != 0)
        return cmp;
    if (x->name_len != y->name_len)
        return x->name_len < y->name_len ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

static int by_order(const void *a, const void *b) {
    const struct entry *x = a;
    const struct entry *y = b;
    return x->order < y->order ? -1 : 1;
}

static bool same_name(const struct entry *x, const struct entry *y) {
    return x->name_len == y->name_len && memcmp(x->text, y->text, x->name_len) == 0;
}

static size_t count(char *const *envp) {
    size_t n = 0;
    while (envp != NULL && envp[n] != NULL)
        n++;
    return n;
}

/* Add an entry of the caller's environment unchanged, even if it has no '='. */
static int add_text(struct entry *entries, size_t *n, const char *text) {
    struct entry *entry = &entries[*n];
    entry->text = strdup(text);
    if (entry->text == NULL)
        return ENOMEM;
    entry->name_len = strcspn(text, "=");
    entry->order = (*n)++;
    return 0;
}

static int add_pair(struct entry *entries, size_t *n, const struct bs_env_pair *pair) {
    size_t name_len = strlen(pair->name);
    if (name_len == 0 || strchr(pair->name, '=') != NULL)
        return EINVAL;
    size_t value_len = strlen(pair->value);
    struct entry *entry = &entries[*n];
    entry->text = malloc(name_len + value_len + 2);
    if (entry->text == NULL)
        return ENOMEM;
    memcpy(entry->text, pair->name, name_len);
    entry->text[name_len] = '=';
    memcpy(entry->text + name_len + 1, pair->value, value_len + 1);
    entry->name_len = name_len;
    entry->order = (*n)++;
    return 0;
}

/* Sort by name, keep the last entry of each name, and restore the original order. */
static size_t keep_last(struct entry *entries, size_t n) {
    qsort(entries, n, sizeof *entries, by_name_then_order);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (i + 1 < n && same_name(&entries[i], &entries[i + 1]))
            free(entries[i].text);
        else
            entries[kept++] = entries[i];
    }
    qsort(entries, kept, sizeof *entries, by_order);
    return kept;
}

int bs_environ_build(struct bs_environ *environment, enum bs_env_mode mode,
                     const struct bs_env_pair *env, size_t n_env,
                     const struct bs_env_pair *additions, size_t n_additions) {
    *environment = (struct bs_environ)BS_ENVIRON_INIT;
    if (mode == BS_ENV_INHERIT && n_additions == 0) {
        environment->envp = environ;
        return 0;
    }
    size_t n_inherited = mode == BS_ENV_INHERIT ? count(environ) : 0;
    size_t n_set = mode == BS_ENV_CLEAR_AND_SET ? n_env : 0;
    size_t most = n_inherited + n_set + n_additions;
    struct entry *entries = calloc(most + 1, sizeof *entries);
    environment->owned = calloc(most + 1, sizeof *environment->owned);
    size_t n = 0;
    int os_error = entries == NULL || environment->owned == NULL ? ENOMEM : 0;
    for (size_t i = 0; os_error == 0 && i < n_inherited; i++)
        os_error = add_text(entries, &n, environ[i]);
    for (size_t i = 0; os_error == 0 && i < n_set; i++)
        os_error = add_pair(entries, &n, &env[i]);
    for (size_t i = 0; os_error == 0 && i < n_additions; i++)
        os_error = add_pair(entries, &n, &additions[i]);
    if (os_error == 0 && (n_set > 0 || n_additions > 0))
        n = keep_last(entries, n);
    for (size_t i = 0; i < n; i++) {
        if (os_error == 0)
            environment->owned[i] = entries[i].text;
        else
            free(entries[i].text);
    }
    free(entries);
    if (os_error != 0)
        bs_environ_clear(environment);
    environment->envp = environment->owned;
    return os_error;
}

const char *bs_environ_get(char *const *envp, const char *name) {
    size_t len = strlen(name);
    for (; envp != NULL && *envp != NULL; envp++) {
        if (strncmp(*envp, name, len) == 0 && (*envp)[len] == '=')
            return *envp + len + 1;
    }
    return NULL;
}

void bs_environ_clear(struct bs_environ *environment) {
    for (char **entry = environment->owned; entry != NULL && *entry != NULL; entry++)
        free(*entry);
    free(environment->owned);
    *environment = (struct bs_environ)BS_ENVIRON_INIT;
}
