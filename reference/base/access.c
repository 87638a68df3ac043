#define _GNU_SOURCE
#include "base/access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

bool bs_mode_lets_execute(const struct stat *st, const struct bs_identity *who) {
    const mode_t any = S_IXUSR | S_IXGRP | S_IXOTH;
    if (who->user == 0)
        return S_ISDIR(st->st_mode) || (st->st_mode & any) != 0;
    if (who->user == st->st_uid)
        return (st->st_mode & S_IXUSR) != 0;
    for (int i = 0; i < who->n_groups; i++) {
        if (who->groups[i] == st->st_gid)
            return (st->st_mode & S_IXGRP) != 0;
    }
    return (st->st_mode & S_IXOTH) != 0;
}

static int ask_mode(int dir, const char *path) {
    struct stat st;
    int n = getgroups(0, NULL);
    if (n < 0 || fstatat(dir, path, &st, 0) != 0)
        return errno;
    gid_t *groups = calloc((size_t)n + 1, sizeof *groups);
    if (groups == NULL)
        return ENOMEM;
    groups[0] = getegid();
    n = getgroups(n, groups + 1);
    int os_error = n < 0 ? errno : 0;
    struct bs_identity who = {geteuid(), groups, n + 1};
    if (os_error == 0 && !bs_mode_lets_execute(&st, &who))
        os_error = EACCES;
    free(groups);
    return os_error;
}

int bs_may_execute(int dir, const char *path) {
    if (faccessat(dir, path, X_OK, AT_EACCESS) == 0)
        return 0;
    /* The check uses the effective ids, which needs faccessat2 (Linux 5.8). If the kernel lacks the
     * call, the C library emulates it. But a seccomp filter may answer EPERM to system calls that
     * it does not know, and a missing call then looks like a refusal. A real refusal is never
     * EPERM. The C library uses faccessat2 even without flags. */
    if (errno != EPERM)
        return errno;
    if (getuid() == geteuid() && getgid() == getegid())
        return syscall(SYS_faccessat, dir, path, X_OK) == 0 ? 0 : errno;
    return ask_mode(dir, path);
}
