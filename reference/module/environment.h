/* The environment of a module. */
#ifndef BS_MODULE_ENVIRONMENT_H
#define BS_MODULE_ENVIRONMENT_H

#include <stddef.h>

#include <boxspec/exec.h>

struct bs_module_environment {
    /* the values are not copied: they belong to the caller's environment */
    struct bs_env_pair *pairs;
    size_t n;
    char **names; /* allocated names, at most n of them */
};

/* Make the environment of a module from the caller's environment, the extensions root and the
 * folder. Returns false if memory ran out; *made is cleared then. */
bool bs_module_environment_make(struct bs_module_environment *made, const char *root,
                                const char *folder);
void bs_module_environment_clear(struct bs_module_environment *made);

#endif
