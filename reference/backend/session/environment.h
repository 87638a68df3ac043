/* Makes the environment of a program in the sandbox. */
#ifndef BS_BACKEND_SESSION_ENVIRONMENT_H
#define BS_BACKEND_SESSION_ENVIRONMENT_H

#include <boxspec/exec.h>

struct bs_env_list {
    struct bs_env_pair *pairs; /* malloc'd; the values are not copied */
    char **names;
    size_t n;
};

/* Make the list. With `inherits` it begins with the caller's variables that the contract passes on
 * (with `hermetic` only PATH). The additions follow. Returns 0 or ENOMEM; after an error *list need
 * not be cleared. */
int bs_env_compose(struct bs_env_list *list, bool inherits, bool hermetic,
                   const struct bs_env_pair *additions, size_t n_additions);
void bs_env_list_clear(struct bs_env_list *list);

#endif
