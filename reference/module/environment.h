/* The environment that a module is given. */
#ifndef BS_MODULE_ENVIRONMENT_H
#define BS_MODULE_ENVIRONMENT_H

#include <stddef.h>

#include <boxspec/exec.h>

struct bs_module_environment {
    struct bs_env_pair *pairs; /* values are borrowed */
    size_t n;
    char **names; /* owned; n of them at most */
};

/* Out of the caller's own, with these two. False: no memory; cleared then. */
bool bs_module_environment_make(struct bs_module_environment *made, const char *root,
                                const char *folder);
void bs_module_environment_clear(struct bs_module_environment *made);

#endif
