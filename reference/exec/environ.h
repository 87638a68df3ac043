/* The environment of a child. */
#ifndef BS_EXEC_ENVIRON_H
#define BS_EXEC_ENVIRON_H

#include <stddef.h>

#include <boxspec/exec.h>

struct bs_environ {
    char *const *envp; /* NULL-terminated: the environ of the caller, or `owned` */
    char **owned;
};

#define BS_ENVIRON_INIT                                                                            \
    { NULL, NULL }

/* Build the environment from a request's mode and pairs and the additions of a sandbox, which
 * override the pairs. If a name occurs twice, the last pair wins. Returns 0 or an errno: EINVAL for
 * a name that is empty or contains '='. */
int bs_environ_build(struct bs_environ *environment, enum bs_env_mode mode,
                     const struct bs_env_pair *env, size_t n_env,
                     const struct bs_env_pair *additions, size_t n_additions);

/* Return the value of a variable, which belongs to envp, or NULL. */
const char *bs_environ_get(char *const *envp, const char *name);

void bs_environ_clear(struct bs_environ *environment);

#endif
