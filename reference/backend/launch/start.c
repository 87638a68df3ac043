/* The child of the leader: the program under Landlock, or bubblewrap around it. */
#define _GNU_SOURCE
#include "backend/launch/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "backend/plan.h"
#include "base/sys.h"

static void stop_here(int status, const struct bs_launch_failure *failure) {
    const struct status said = {.kind = STATUS_FAILED, .failure = *failure};
    send_status(status, &said);
    _exit(BS_LAUNCH_FAILED);
}

/* Landlock: the child confines itself and becomes the program. Closing `status` by executing is
 * what tells that it did. */
static void become_program(const struct launcher *launcher, int status, int go) {
    struct bs_launch_failure failure;
    const struct plan *plan = launcher->plan;
    void *filter = NULL;
    size_t len = 0;
    char byte = 0;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (BS_RETRY(read(go, &byte, 1)) != 1)
        _exit(BS_LAUNCH_FAILED);
    if (plan->filter != NULL) {
        int fd = (int)BS_RETRY(open(plan->filter, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
        if (fd < 0) {
            (void)failed(&failure, BS_LAUNCH_SANDBOX, errno, "its filter");
            stop_here(status, &failure);
        }
        if (!read_filter(fd, &filter, &len, &failure))
            stop_here(status, &failure);
    }
    bool good = drop_privileges(&failure) && apply_ruleset(plan, &failure) &&
                (filter == NULL || apply_filter(filter, len, &failure));
    /* A message of the program is not the launcher's: nothing is open above 2 after this. */
    if (good && !close_from(3, true))
        good = failed(&failure, BS_LAUNCH_SANDBOX, errno, "descriptors");
    if (good)
        execute(launcher->program, &failure);
    stop_here(status, &failure);
}

static bool place(int fd, int at) {
    return fd == at ? fcntl(fd, F_SETFD, 0) == 0 : dup2(fd, at) == at;
}

/* bubblewrap: its last words are "--", this program, and what that is to do. */
static void become_bubblewrap(const struct launcher *launcher, int status, int go, int said) {
    struct bs_launch_failure failure;
    const struct plan *plan = launcher->plan;
    const struct program *program = launcher->program;
    char mask[65] = {0};
    for (int signo = 1; signo <= 64; signo++)
        mask[signo - 1] = sigismember(&program->mask, signo) == 1 ? '1' : '0';
    size_t n = 0;
    while (program->argv[n] != NULL)
        n++;
    const char **argv = calloc(plan->n_args + n + 10, sizeof *argv);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
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
    bool good = argv != NULL && self >= 0 && kept && (filter >= 0) == (plan->filter != NULL) &&
                place(status, STATUS_FD) && place(go, ENVIRON_FD) && place(own[0], STDIN_FD) &&
                place(own[1], STDOUT_FD) && place(own[2], STDERR_FD) && place(self, SELF_FD) &&
                (filter < 0 || place(filter, FILTER_FD)) && dup2(said, 2) == 2 &&
                let_go_of_stdio(false);
    if (!good) {
        (void)failed(&failure, BS_LAUNCH_SANDBOX, errno, "descriptors");
        stop_here(status, &failure);
    }
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
    argv[at++] = mask;
    argv[at++] = program->cwd;
    argv[at++] = "--";
    memcpy(argv + at, program->argv, n * sizeof *argv);
    char *nothing[] = {NULL};
    (void)execve(argv[0], (char *const *)(uintptr_t)argv, nothing);
    (void)failed(&failure, BS_LAUNCH_SANDBOX, errno, argv[0]);
    stop_here(status, &failure);
}

bool start(struct launcher *launcher) {
    int status = -1;
    int go = -1;
    int said = -1;
    struct bs_launch_failure *failure = &launcher->failure;
    if (!make_pipe(&launcher->status, &status) || !make_pipe(&go, &launcher->environ) ||
        !bs_set_nonblocking(launcher->status) ||
        (launcher->namespaces && !make_pipe(&launcher->said, &said)))
        return failed(failure, BS_LAUNCH_SANDBOX, errno, "a pipe");
    launcher->child = fork();
    if (launcher->child == 0) {
        if (launcher->namespaces)
            become_bubblewrap(launcher, status, go, said);
        become_program(launcher, status, go);
    }
    if (launcher->child < 0)
        return failed(failure, BS_LAUNCH_PROGRAM, errno, "");
    bs_close(&status);
    bs_close(&go);
    bs_close(&said);
    return true;
}

void let_go(struct launcher *launcher) {
    launcher->going = true;
    if (!launcher->namespaces) {
        (void)!BS_RETRY(write(launcher->environ, "", 1));
        bs_close(&launcher->environ);
        return;
    }
    size_t n = 0;
    for (char *const *entry = launcher->program->envp; *entry != NULL; entry++, n++) {
        const char *text = *entry;
        size_t left = strlen(text) + 1;
        while (left > 0) {
            ssize_t written = (ssize_t)BS_RETRY(write(launcher->environ, text, left));
            if (written < 0)
                break; /* it is gone, and its status says why */
            text += written;
            left -= (size_t)written;
        }
    }
    (void)!BS_RETRY(write(launcher->environ, "", 1));
    bs_close(&launcher->environ);
}
