/* Tests whether this process, by its effective ids, may execute a file or enter a directory. */
#ifndef BS_BASE_ACCESS_H
#define BS_BASE_ACCESS_H

#include <stdbool.h>
#include <sys/stat.h>

/* Return 0 or an errno. `dir` is a descriptor as for openat. */
int bs_may_execute(int dir, const char *path);

struct bs_identity {
    uid_t user;
    const gid_t *groups; /* the effective group and the supplementary groups */
    int n_groups;
};

/* True if the mode bits let the identity execute the file. Used if a seccomp filter blocks
 * faccessat2. */
bool bs_mode_lets_execute(const struct stat *st, const struct bs_identity *who);

#endif
