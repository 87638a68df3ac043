/* Whether a file may be executed, or a directory entered, by who we are now (effective ids). */
#ifndef BS_BASE_ACCESS_H
#define BS_BASE_ACCESS_H

#include <stdbool.h>
#include <sys/stat.h>

/* 0 or an errno. `dir` as in openat. */
int bs_may_execute(int dir, const char *path);

struct bs_identity {
    uid_t user;
    const gid_t *groups; /* the effective one and the supplementary ones */
    int n_groups;
};

/* What the mode bits say; for where the kernel cannot be asked. */
bool bs_mode_lets_execute(const struct stat *st, const struct bs_identity *who);

#endif
