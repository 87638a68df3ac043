/* The child of the leader: the program under Landlock, or bubblewrap around it. */
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

/* The signal that asked the launcher to end before its child was there. */
static volatile sig_atomic_t asked_to_end;

static void note(int signo) { asked_to_end = signo; }

/* In the child. */
static void stop_here(struct launcher *launcher) {
    launcher->has_failed = true;
    _exit(BS_LAUNCH_FAILED);
}

/* Landlock: the child confines itself and becomes the program. */
static void become_program(struct launcher *launcher) {
    struct bs_launch_failure *failure = &launcher->failure;
    const struct plan *plan = launcher->plan;
    void *filter = NULL;
    size_t len = 0;
    if (plan->filter != NULL) {
        int fd = (int)BS_RETRY(open(plan->filter, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
        if (fd < 0) {
            (void)failed(failure, BS_LAUNCH_SANDBOX, errno, "its filter");
            return;
        }
        if (!read_filter(fd, &filter, &len, failure))
            return;
    }
    if (!take_over(&launcher->streams, 0)) {
        (void)failed(failure, BS_LAUNCH_SANDBOX, errno, "descriptors");
        return;
    }
    bool good = drop_privileges(failure) && apply_grants(&plan->grants, failure) &&
                (filter == NULL || apply_filter(filter, len, failure));
    /* A message of the program is not the launcher's: nothing is open above 2 after this. */
    if (good && !close_from(3, true))
        good = failed(failure, BS_LAUNCH_SANDBOX, errno, "descriptors");
    launcher->going = good;
    if (good)
        execute(launcher->program, failure);
}

static bool place(int fd, int at) {
    return fd == at ? fcntl(fd, F_SETFD, 0) == 0 : dup2(fd, at) == at;
}

/* Those of pipes that are bubblewrap's. */
struct ends {
    int status;
    int go;
    int said;
};

enum { RIGHTS_BYTES = 17 };

static const char *put_rights(char *text, uint64_t rights) {
    (void)snprintf(text, RIGHTS_BYTES, "%llx", (unsigned long long)rights);
    return text;
}

static bool write_text(const char *path, const char *text) {
    int fd = (int)BS_RETRY(open(path, O_WRONLY | O_CLOEXEC));
    bool good = fd >= 0 && BS_RETRY(write(fd, text, strlen(text))) == (long)strlen(text);
    bs_close(&fd);
    return good;
}

/* A normal user has the right to keep mounts out in a namespace of users alone, and bubblewrap
 * gives its own away before pid 1 could use it. */
static bool own_mounts(struct bs_launch_failure *failure) {
    char uids[48];
    char gids[48];
    (void)snprintf(uids, sizeof uids, "%u %u 1", (unsigned)geteuid(), (unsigned)geteuid());
    (void)snprintf(gids, sizeof gids, "%u %u 1", (unsigned)getegid(), (unsigned)getegid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || !write_text("/proc/self/setgroups", "deny") ||
        !write_text("/proc/self/uid_map", uids) || !write_text("/proc/self/gid_map", gids))
        return failed(failure, BS_LAUNCH_SANDBOX, errno, "mounts of its own");
    return keep_mounts(failure);
}

/* bubblewrap: its last words are "--", this program, and what that is to do. */
static void become_bubblewrap(struct launcher *launcher, const struct ends *ends) {
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
    int own[3]; /* of the program */
    bool kept = true;
    for (int fd = 0; fd <= 2; fd++) {
        own[fd] = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
        kept = kept && own[fd] >= 0;
    }
    /* Out of the way of each other's places. */
    self = self >= 0 ? fcntl(self, F_DUPFD_CLOEXEC, FIRST_FREE_FD) : -1;
    filter = filter >= 0 ? fcntl(filter, F_DUPFD_CLOEXEC, FIRST_FREE_FD) : -1;
    bool good = argv != NULL && rights != NULL && self >= 0 && kept &&
                (filter >= 0) == (plan->filter != NULL) && place(ends->status, STATUS_FD) &&
                place(ends->go, PROGRAM_FD) && place(own[0], STDIN_FD) &&
                place(own[1], STDOUT_FD) && place(own[2], STDERR_FD) && place(self, SELF_FD) &&
                (filter < 0 || place(filter, FILTER_FD)) && dup2(ends->said, 2) == 2 &&
                let_go_of_stdio(false);
    if (!good) {
        (void)failed(failure, BS_LAUNCH_SANDBOX, errno, "descriptors");
        return;
    }
    if (plan->own_mounts && !own_mounts(failure))
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
    argv[at++] = launcher->tells ? "tells" : "silent";
    argv[at++] = plan->seal != NULL ? plan->seal : "";
    argv[at++] = mask;
    argv[at++] = program->cwd;
    argv[at++] = put_rights(rights, grants->handled.fs);
    for (size_t i = 0; i < grants->n_paths; i++) {
        argv[at++] = put_rights(rights + (i + 1) * RIGHTS_BYTES, grants->paths[i].rights);
        argv[at++] = grants->paths[i].path;
    }
    char *nothing[] = {NULL};
    (void)execve(argv[0], (char *const *)(uintptr_t)argv, nothing);
    (void)failed(failure, BS_LAUNCH_SANDBOX, errno, argv[0]);
}

struct birth {
    struct launcher *launcher;
    struct ends ends;
};

static int be_born(void *ctx) {
    const struct birth *birth = ctx;
    struct launcher *launcher = birth->launcher;
    block_signals(NULL);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (asked_to_end != 0)
        (void)failed(&launcher->failure, BS_LAUNCH_SANDBOX, EINTR, "ended before it began");
    else if (getppid() != launcher->self) /* it was killed before the line above */
        (void)failed(&launcher->failure, BS_LAUNCH_SANDBOX, 0, "the launcher is gone");
    else if (launcher->namespaces)
        become_bubblewrap(launcher, &birth->ends);
    else
        become_program(launcher);
    stop_here(launcher);
    return BS_LAUNCH_FAILED;
}

/* What the group is sent reaches the launcher alone, or its child as well, and nobody could tell
 * afterwards. Where a signal is not blocked, the kernel lets what came before be handled before it
 * makes the child, and what comes meanwhile reach both. */
static void make_child(struct birth *birth) {
    struct launcher *launcher = birth->launcher;
    struct sigaction action;
    sigset_t ends;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    action.sa_flags = SA_RESTART;
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGINT);
    (void)sigaddset(&ends, SIGTERM);
    (void)sigprocmask(SIG_UNBLOCK, &ends, NULL);
    launcher->self = getpid();
    launcher->child = start_child(be_born, birth);
    if (launcher->child < 0) {
        launcher->has_failed = true;
        (void)failed(&launcher->failure, BS_LAUNCH_PROGRAM, errno, "");
    }
    (void)sigprocmask(SIG_BLOCK, &ends, NULL);
}

bool start(struct launcher *launcher, bool *asked) {
    struct birth birth = {launcher, {-1, -1, -1}};
    struct ends *ends = &birth.ends;
    if (launcher->namespaces &&
        (!make_pipe(&launcher->status, &ends->status) || !make_pipe(&ends->go, &launcher->told) ||
         !make_pipe(&launcher->said, &ends->said) || !bs_set_nonblocking(launcher->status)))
        return failed(&launcher->failure, BS_LAUNCH_SANDBOX, errno, "a pipe");
    launcher->has_failed = false;
    make_child(&birth);
    bs_close(&ends->status);
    bs_close(&ends->go);
    bs_close(&ends->said);
    let_go_of_handover(&launcher->streams);
    *asked = asked_to_end != 0;
    return !launcher->has_failed;
}

static void pass_on(struct launcher *launcher, const char *text) {
    size_t left = strlen(text) + 1;
    while (left > 0) {
        ssize_t written = (ssize_t)BS_RETRY(write(launcher->told, text, left));
        if (written < 0)
            return; /* it is gone, and its status says why */
        text += written;
        left -= (size_t)written;
    }
}

void let_go(struct launcher *launcher) {
    const struct program *program = launcher->program;
    char number[24];
    size_t n = 0;
    launcher->going = true;
    while (program->argv[n] != NULL)
        n++;
    (void)snprintf(number, sizeof number, "%zu", n);
    pass_on(launcher, number);
    for (char *const *word = program->argv; *word != NULL; word++)
        pass_on(launcher, *word);
    for (char *const *entry = program->envp; *entry != NULL; entry++)
        pass_on(launcher, *entry);
    pass_on(launcher, "");
    bs_close(&launcher->told);
}
