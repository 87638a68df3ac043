/* Starts the child of the launcher. Under Landlock the child becomes the program. Otherwise it
 * becomes bubblewrap, which starts the program. */
#define _GNU_SOURCE
#include "backend/launch/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "backend/plan/plan.h"
#include "base/sys.h"

/* the last SIGINT or SIGTERM that arrived while the child was being made; else 0 */
static volatile sig_atomic_t end_signal;

static void note_signal(int signo) { end_signal = signo; }

/* Runs in the child. */
static void abort_child(struct launcher *launcher) {
    launcher->has_failed = true;
    _exit(BS_LAUNCH_FAILED);
}

/* The child under Landlock: it confines itself and executes the program. */
static void execute_program(struct launcher *launcher) {
    struct bs_launch_failure *failure = &launcher->failure;
    const struct plan *plan = launcher->plan;
    void *filter = NULL;
    size_t len = 0;
    if (plan->filter != NULL) {
        int fd = (int)BS_RETRY(open(plan->filter, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
        if (fd < 0) {
            (void)set_failure(failure, BS_LAUNCH_SANDBOX, errno, "its filter");
            return;
        }
        if (!read_filter(fd, &filter, &len, failure))
            return;
    }
    if (!stream_queue_receive(&launcher->streams, 0)) {
        (void)set_failure(failure, BS_LAUNCH_SANDBOX, errno, "descriptors");
        return;
    }
    bool good = drop_privileges(failure) && apply_grants(&plan->grants, failure) &&
                (filter == NULL || apply_filter(filter, len, failure));
    /* Close all descriptors above 2 on exec. Otherwise the program could write to the report pipe
     * and pretend to be the launcher. */
    if (good && !close_from(3, true))
        good = set_failure(failure, BS_LAUNCH_SANDBOX, errno, "descriptors");
    launcher->released = good;
    if (good)
        execute(launcher->program, failure);
}

static bool move_fd(int fd, int at) {
    return fd == at ? fcntl(fd, F_SETFD, 0) == 0 : dup2(fd, at) == at;
}

/* The ends of the pipes that bubblewrap gets. */
struct ends {
    int status;
    int program;
    int stderr_pipe;
};

enum { RIGHTS_BYTES = 17 };

static const char *format_rights(char *text, uint64_t rights) {
    (void)snprintf(text, RIGHTS_BYTES, "%llx", (unsigned long long)rights);
    return text;
}

static bool write_text(const char *path, const char *text) {
    int fd = (int)BS_RETRY(open(path, O_WRONLY | O_CLOEXEC));
    bool good = fd >= 0 && BS_RETRY(write(fd, text, strlen(text))) == (long)strlen(text);
    bs_close(&fd);
    return good;
}

/* Enter a user namespace and a mount namespace that receives no mount events. An unprivileged user
 * may refuse mount events only in a user namespace. Pid 1 cannot do it later, because bubblewrap
 * drops the necessary capability. */
static bool enter_mount_namespace(struct bs_launch_failure *failure) {
    char uids[48];
    char gids[48];
    (void)snprintf(uids, sizeof uids, "%u %u 1", (unsigned)geteuid(), (unsigned)geteuid());
    (void)snprintf(gids, sizeof gids, "%u %u 1", (unsigned)getegid(), (unsigned)getegid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || !write_text("/proc/self/setgroups", "deny") ||
        !write_text("/proc/self/uid_map", uids) || !write_text("/proc/self/gid_map", gids))
        return set_failure(failure, BS_LAUNCH_SANDBOX, errno, "mounts of its own");
    return refuse_mount_events(failure);
}

/* The child under bubblewrap: it executes bubblewrap. bubblewrap's arguments end with "--", the
 * launcher as the program, and the options for pid 1. */
static void execute_bubblewrap(struct launcher *launcher, const struct ends *ends) {
    struct bs_launch_failure *failure = &launcher->failure;
    const struct plan *plan = launcher->plan;
    const struct program *program = launcher->program;
    char mask[65] = {0};
    for (int signo = 1; signo <= 64; signo++)
        mask[signo - 1] = sigismember(&program->mask, signo) == 1 ? '1' : '0';
    const struct grants *grants = &plan->grants;
    const char **argv = calloc(plan->n_args + 2 * grants->n_paths + 12, sizeof *argv);
    char *rights = calloc(grants->n_paths + 1, RIGHTS_BYTES);
    int filter = -1;
    int self = (int)BS_RETRY(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    if (plan->filter != NULL)
        filter = (int)BS_RETRY(open(plan->filter, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    int streams[3]; /* copies of descriptors 0 to 2 for the program */
    bool copied = true;
    for (int fd = 0; fd <= 2; fd++) {
        streams[fd] = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
        copied = copied && streams[fd] >= 0;
    }
    /* Move both descriptors above all fixed numbers, because a dup2 below would overwrite them. */
    self = self >= 0 ? fcntl(self, F_DUPFD_CLOEXEC, FIRST_FREE_FD) : -1;
    filter = filter >= 0 ? fcntl(filter, F_DUPFD_CLOEXEC, FIRST_FREE_FD) : -1;
    bool good = argv != NULL && rights != NULL && self >= 0 && copied &&
                (filter >= 0) == (plan->filter != NULL) && move_fd(ends->status, STATUS_FD) &&
                move_fd(ends->program, PROGRAM_FD) && move_fd(streams[0], STDIN_FD) &&
                move_fd(streams[1], STDOUT_FD) && move_fd(streams[2], STDERR_FD) &&
                move_fd(self, SELF_FD) && (filter < 0 || move_fd(filter, FILTER_FD)) &&
                dup2(ends->stderr_pipe, 2) == 2 && replace_stdio(false);
    if (!good) {
        (void)set_failure(failure, BS_LAUNCH_SANDBOX, errno, "descriptors");
        return;
    }
    if (plan->own_mounts && !enter_mount_namespace(failure))
        return;
    size_t at = 0;
    for (size_t i = 0; i < plan->n_args; i++)
        argv[at++] = plan->args[i];
    char self_path[32];
    (void)snprintf(self_path, sizeof self_path, "/proc/self/fd/%d", SELF_FD);
    argv[at++] = "--";
    argv[at++] = self_path;
    argv[at++] = BS_LAUNCH_INSIDE;
    argv[at++] = filter >= 0 ? "filtered" : "bare";
    argv[at++] = launcher->reports_start ? "reports" : "silent";
    argv[at++] = plan->read_only_proc != NULL ? plan->read_only_proc : "";
    argv[at++] = mask;
    argv[at++] = program->cwd;
    argv[at++] = format_rights(rights, grants->handled.fs);
    for (size_t i = 0; i < grants->n_paths; i++) {
        argv[at++] = format_rights(rights + (i + 1) * RIGHTS_BYTES, grants->paths[i].rights);
        argv[at++] = grants->paths[i].path;
    }
    char *no_environment[] = {NULL};
    (void)execve(argv[0], (char *const *)(uintptr_t)argv, no_environment);
    (void)set_failure(failure, BS_LAUNCH_SANDBOX, errno, argv[0]);
}

struct child_setup {
    struct launcher *launcher;
    struct ends ends;
};

static int run_child(void *ctx) {
    const struct child_setup *setup = ctx;
    struct launcher *launcher = setup->launcher;
    block_signals(NULL);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (end_signal != 0)
        (void)set_failure(&launcher->failure, BS_LAUNCH_SANDBOX, EINTR, "ended before it began");
    else if (getppid() != launcher->self) /* the parent died before the prctl above */
        (void)set_failure(&launcher->failure, BS_LAUNCH_SANDBOX, 0, "the launcher has ended");
    else if (launcher->namespaces)
        execute_bubblewrap(launcher, &setup->ends);
    else
        execute_program(launcher);
    abort_child(launcher);
    return BS_LAUNCH_FAILED;
}

/* Start the child while SIGINT and SIGTERM are handled and not blocked. If they were blocked, the
 * launcher could not know whether a signal to the group had also reached the child. With handlers
 * the order is clear: a signal before the fork has run the handler before the child exists, and a
 * later signal reaches both. */
static void start_with_handlers(struct child_setup *setup) {
    struct launcher *launcher = setup->launcher;
    struct sigaction action;
    sigset_t ends;
    memset(&action, 0, sizeof action);
    action.sa_handler = note_signal;
    action.sa_flags = SA_RESTART;
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGINT);
    (void)sigaddset(&ends, SIGTERM);
    (void)sigprocmask(SIG_UNBLOCK, &ends, NULL);
    launcher->self = getpid();
    launcher->child = start_child(run_child, setup);
    if (launcher->child < 0) {
        launcher->has_failed = true;
        (void)set_failure(&launcher->failure, BS_LAUNCH_PROGRAM, errno, "");
    }
    (void)sigprocmask(SIG_BLOCK, &ends, NULL);
}

bool start_launched(struct launcher *launcher, bool *interrupted) {
    struct child_setup setup = {launcher, {-1, -1, -1}};
    struct ends *ends = &setup.ends;
    if (launcher->namespaces && (!make_pipe(&launcher->status, &ends->status) ||
                                 !make_pipe(&ends->program, &launcher->program_pipe) ||
                                 !make_pipe(&launcher->bwrap_stderr, &ends->stderr_pipe) ||
                                 !bs_set_nonblocking(launcher->status)))
        return set_failure(&launcher->failure, BS_LAUNCH_SANDBOX, errno, "a pipe");
    launcher->has_failed = false;
    start_with_handlers(&setup);
    bs_close(&ends->status);
    bs_close(&ends->program);
    bs_close(&ends->stderr_pipe);
    stream_queue_close(&launcher->streams);
    *interrupted = end_signal != 0;
    return !launcher->has_failed;
}

static void send_bytes(struct launcher *launcher, const char *text, size_t left) {
    while (left > 0) {
        ssize_t written = (ssize_t)BS_RETRY(write(launcher->program_pipe, text, left));
        if (written < 0)
            return; /* pid 1 has ended, and its message has the reason */
        text += written;
        left -= (size_t)written;
    }
}

static void send_text(struct launcher *launcher, const char *text) {
    send_bytes(launcher, text, strlen(text) + 1);
}

void release_program(struct launcher *launcher) {
    const struct program *program = launcher->program;
    struct bs_buf mounts = BS_BUF_INIT;
    char numbers[72];
    size_t n_args = 0;
    size_t n_env = 0;
    size_t n_mounts = 0;
    launcher->released = true;
    /* Without the last NUL the text is incomplete, so pid 1 does not start the program. */
    bool complete = planned_mounts_describe(launcher->plan, &mounts, &n_mounts);
    while (program->argv[n_args] != NULL)
        n_args++;
    while (program->envp[n_env] != NULL)
        n_env++;
    (void)snprintf(numbers, sizeof numbers, "%zu %zu %zu", n_args, n_env, n_mounts);
    send_text(launcher, numbers);
    for (char *const *word = program->argv; *word != NULL; word++)
        send_text(launcher, *word);
    for (char *const *entry = program->envp; *entry != NULL; entry++)
        send_text(launcher, *entry);
    send_bytes(launcher, mounts.data, mounts.len);
    if (complete)
        send_text(launcher, "");
    bs_buf_clear(&mounts);
    bs_close(&launcher->program_pipe);
}
