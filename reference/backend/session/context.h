/* Contexts: checks, and the properties that backends derive from them. */
#ifndef BS_BACKEND_SESSION_CONTEXT_H
#define BS_BACKEND_SESSION_CONTEXT_H

#include <boxspec/backend.h>

/* A context whose root and cwd are real paths. Both are malloc'd; the rest is borrowed. */
struct bs_resolved_context {
    struct bs_backend_context context;
    char *root;
    char *cwd;
};

/* Checks the context, resolves its root and cwd. Returns 0; BS_E_INVALID for a context that is
 * wrong; BS_E_EXECUTION if memory ran out. After an error *resolved needs no clear. */
int bs_context_resolve(const struct bs_backend_context *given, struct bs_resolved_context *resolved,
                       struct bs_error *err);
void bs_context_clear(struct bs_resolved_context *resolved);

/* Checks the parts of a context that do not depend on its root. Returns 0 or BS_E_INVALID. */
int bs_context_check(const struct bs_backend_context *context, struct bs_error *err);

/* True if `path` is `dir` or lies below it. Both are real paths. */
bool bs_is_below(const char *path, const char *dir);

/* Sets *cache to the real path of HOME/.cache, malloc'd. It is NULL if that does not exist, or if
 * its name lies in the root (which may be NULL): then it is granted with the root, and following it
 * would be unsafe, because a program may have replaced it by a link to any place. False: out of
 * memory. */
bool bs_context_cache(const char *root, char **cache);

bool bs_confine_has_network(enum bs_confine confine);

/* The network of a context, for backends that cannot filter hosts. */
enum bs_network { BS_NET_OPEN, BS_NET_NONE, BS_NET_LIST };
enum bs_network bs_context_network(const struct bs_backend_context *context);
unsigned bs_egress_port(const char *entry); /* 0 for `*` */

#endif
