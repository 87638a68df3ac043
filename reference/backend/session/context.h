/* Checks contexts, and computes properties of them that backends need. */
#ifndef BS_BACKEND_SESSION_CONTEXT_H
#define BS_BACKEND_SESSION_CONTEXT_H

#include <boxspec/backend.h>

/* A context whose root and cwd are real paths. These two come from malloc; the rest belongs to the
 * caller. */
struct bs_resolved_context {
    struct bs_backend_context context;
    char *root;
    char *cwd;
};

/* Check the context, and resolve its root and cwd. Returns 0; BS_E_INVALID if the context is wrong;
 * BS_E_EXECUTION if memory ran out. After an error *resolved need not be cleared. */
int bs_context_resolve(const struct bs_backend_context *given, struct bs_resolved_context *resolved,
                       struct bs_error *err);
void bs_context_clear(struct bs_resolved_context *resolved);

/* Check the parts of a context that do not depend on its root. Returns 0 or BS_E_INVALID. */
int bs_context_check(const struct bs_backend_context *context, struct bs_error *err);

/* True if `path` is `dir` or lies below it. Both are real paths. */
bool bs_is_below(const char *path, const char *dir);

/* Set *cache to the real path of HOME/.cache, from malloc. *cache becomes NULL in three cases: the
 * directory does not exist; it lies in the root (which may be NULL), so the grant of the root
 * includes it; or a link in the root leads to it, and a program may have made this link to any
 * place. Returns false if memory ran out. */
bool bs_context_cache(const char *root, char **cache);

bool bs_confine_has_network(enum bs_confine confine);

/* The network access of a context. For backends that cannot filter by host. */
enum bs_network { BS_NET_OPEN, BS_NET_NONE, BS_NET_LIST };
enum bs_network bs_context_network(const struct bs_backend_context *context);
unsigned bs_egress_port(const char *entry); /* returns 0 for `*` */

#endif
