#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/launch/launch.h"
#include "base/sys.h"
#include "exec/search.h"

/* Drop all capabilities, also those of root, so that no executed file can bring one back. With
 * no_new_privs, execve adds no capability (capabilities(7)). SECBIT_NOROOT withholds the
 * capabilities that uid 0 would get; setting it needs CAP_SETPCAP, which only root has. A
 * capability that is not permitted cannot be ambient. The bounding set stays as it is, because it
 * only limits what execve could add. Clearing it would take 41 calls that copy the credentials, 5 %
 * of a launch. */
bool drop_privileges(struct bs_launch_failure *failure) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return set_failure(failure, BS_LAUNCH_SANDBOX, errno, "no_new_privs");
    (void)prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0, 0);
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
    if (syscall(SYS_capset, &header, none) != 0)
        return set_failure(failure, BS_LAUNCH_SANDBOX, errno, "capabilities");
    return true;
}

bool read_filter(int fd, void **filter, size_t *len, struct bs_launch_failure *failure) {
    struct stat st;
    *len = 0;
    *filter = NULL;
    bool fits = fstat(fd, &st) == 0 && st.st_size > 0 && st.st_size <= MOST_FILTER_BYTES &&
                (size_t)st.st_size % sizeof(struct sock_filter) == 0;
    size_t size = fits ? (size_t)st.st_size : 0;
    *filter = fits ? malloc(size) : NULL;
    if (*filter == NULL)
        return set_failure(failure, BS_LAUNCH_SANDBOX, 0, "its filter is not a seccomp program");
    while (*len < size) {
        ssize_t n = (ssize_t)BS_RETRY(pread(fd, (char *)*filter + *len, size - *len, (off_t)*len));
        if (n <= 0)
            return set_failure(failure, BS_LAUNCH_SANDBOX, n < 0 ? errno : 0,
                               "its filter is incomplete");
        *len += (size_t)n;
    }
    return true;
}

bool apply_filter(const void *filter, size_t len, struct bs_launch_failure *failure) {
    struct sock_fprog program = {(unsigned short)(len / sizeof(struct sock_filter)),
                                 (struct sock_filter *)(uintptr_t)filter};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
        return set_failure(failure, BS_LAUNCH_SANDBOX, errno, "its filter");
    return true;
}

static bool add_path(int ruleset, const struct path_rule *rule, struct bs_launch_failure *failure) {
    /* Refuse links in the path: a program of an earlier run may have replaced a directory by a
     * link. */
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
    int fd = (int)BS_RETRY(syscall(SYS_openat2, AT_FDCWD, rule->path, &how, sizeof how));
    if (fd < 0)
        return set_failure(failure, BS_LAUNCH_SANDBOX, errno, rule->path);
    struct bs_ll_path attr = {rule->rights, fd};
    long rc = syscall(BS_LL_ADD_RULE, ruleset, BS_LL_RULE_PATH, &attr, 0);
    int os_error = errno;
    bs_close(&fd);
    return rc == 0 || set_failure(failure, BS_LAUNCH_SANDBOX, os_error, rule->path);
}

bool apply_grants(const struct grants *grants, struct bs_launch_failure *failure) {
    if (grants->handled.fs == 0)
        return true;
    int ruleset = (int)syscall(BS_LL_CREATE_RULESET, &grants->handled, sizeof grants->handled, 0);
    if (ruleset < 0)
        return set_failure(failure, BS_LAUNCH_SANDBOX, errno, "Landlock's ruleset");
    bool good = true;
    for (size_t i = 0; good && i < grants->n_paths; i++)
        good = add_path(ruleset, &grants->paths[i], failure);
    for (size_t i = 0; good && i < grants->n_ports; i++) {
        struct bs_ll_port attr = {BS_LL_CONNECT_TCP, grants->ports[i]};
        good = syscall(BS_LL_ADD_RULE, ruleset, BS_LL_RULE_PORT, &attr, 0) == 0 ||
               set_failure(failure, BS_LAUNCH_SANDBOX, errno, "a port of Landlock's ruleset");
    }
    if (good && syscall(BS_LL_RESTRICT_SELF, ruleset, 0) != 0)
        good = set_failure(failure, BS_LAUNCH_SANDBOX, errno, "Landlock");
    bs_close(&ruleset);
    return good;
}

static const char *path_of(char *const *envp) {
    for (; *envp != NULL; envp++) {
        if (strncmp(*envp, "PATH=", 5) == 0)
            return *envp + 5;
    }
    return NULL;
}

static void default_dispositions(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGPIPE, &action, NULL);
}

void execute(const struct program *program, struct bs_launch_failure *failure) {
    char *found = NULL;
    int os_error = bs_search(AT_FDCWD, program->argv[0], path_of(program->envp), &found);
    if (os_error == 0) {
        default_dispositions();
        (void)sigprocmask(SIG_SETMASK, &program->mask, NULL);
        (void)execve(found, program->argv, program->envp);
        os_error = errno;
    }
    (void)set_failure(failure, BS_LAUNCH_PROGRAM, os_error, "");
}

void send_status(int fd, const struct status *status) {
    (void)!BS_RETRY(write(fd, status, sizeof *status));
}

void block_signals(sigset_t *before) {
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGCONT);
    (void)sigaddset(&set, SIGCHLD);
    (void)sigaddset(&set, SIGPIPE);
    (void)sigprocmask(SIG_BLOCK, &set, before);
}
