/* The environment of a program inside. */
#ifndef BS_BACKEND_SESSION_ENVIRONMENT_H
#define BS_BACKEND_SESSION_ENVIRONMENT_H

#include <boxspec/exec.h>

struct bs_env_list {
    struct bs_env_pair *pairs; /* malloc'd; the values are borrowed */
    char **names;
    size_t n;
};

/* Lists, if `inherits`, the caller's variables that the contract passes on (if `hermetic`, only
 * PATH), and after them the additions. Returns 0 or ENOMEM; after an error *list needs no clear. */
int bs_env_compose(struct bs_env_list *list, bool inherits, bool hermetic,
                   const struct bs_env_pair *additions, size_t n_additions);
void bs_env_list_clear(struct bs_env_list *list);

#endif
