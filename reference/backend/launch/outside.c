/* The part of the launcher that runs outside of the namespace. It leads the process group until the
 * program has ended, and then ends in the same way as the program. */
#define _GNU_SOURCE
#include "backend/launch/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/plan/plan.h"
#include "base/sys.h"

/* Grace period for a process that left the group. It is shorter than that of the group. At the end
 * of the group's grace period, the caller sends SIGKILL to the group and so to the launcher, which
 * must have killed all such processes before. */
enum { STRAYS_MS = BS_EXEC_GRACE_MS - 500 };

/* Report the start. After a failure the caller gets the failure record instead. */
static void report_start(struct launcher *launcher) {
    static const struct bs_launch_failure started = {.step = BS_LAUNCH_STARTED};
    if (launcher->reports_start && !launcher->has_failed)
        (void)!BS_RETRY(write(BS_LAUNCH_REPORT_FD, &started, sizeof started));
    launcher->reports_start = false;
}

static void read_status(struct launcher *launcher) {
    struct status status;
    ssize_t n = 0;
    while ((n = (ssize_t)BS_RETRY(read(launcher->status, &status, sizeof status))) ==
           (ssize_t)sizeof status) {
        if (status.kind == STATUS_READY && !launcher->released &&
            launcher->end.phase == BS_GROUP_RUNS)
            release_program(launcher);
        if (status.kind == STATUS_STARTED)
            report_start(launcher);
        if (status.kind == STATUS_ENDED) {
            launcher->ended = true;
            launcher->wait_status = status.wait_status;
            launcher->killed_outputs = status.killed_outputs;
        }
        if (status.kind == STATUS_FAILED) {
            launcher->has_failed = true;
            launcher->failure = status.failure;
        }
    }
    if (n == 0) /* a closed pipe would end every poll at once */
        bs_close(&launcher->status);
}

static void read_bwrap_stderr(struct launcher *launcher) {
    char text[512];
    ssize_t n = (ssize_t)BS_RETRY(read(launcher->bwrap_stderr, text, sizeof text));
    if (n <= 0) {
        bs_close(&launcher->bwrap_stderr);
        return;
    }
    size_t len = strlen(launcher->bwrap_message);
    for (ssize_t i = 0; i < n && len + 1 < sizeof launcher->bwrap_message; i++) {
        bool plain = text[i] >= ' ' || text[i] < 0;
        if (plain || len > 0)
            launcher->bwrap_message[len++] = plain ? text[i] : ' ';
    }
    launcher->bwrap_message[len] = '\0';
}

/* Signal the group that the launcher leads. Signals other than SIGKILL are not sent, because the
 * caller of the launcher has sent them to the group already. SIGKILL ends the launcher too, so it
 * is sent only if the group has other members. */
static bool signal_own_group(pid_t self, int signo) {
    (void)self;
    return signo != SIGKILL || !group_may_have_others() || kill(0, SIGKILL) == 0;
}

static struct bs_members find_others(pid_t self, uint64_t not_after) {
    (void)self;
    (void)not_after;
    return (struct bs_members){.known = true, .alive = group_may_have_others() ? 1 : 0};
}

static const struct bs_group_reach own_group = {signal_own_group, find_others};

/* Begin the grace period at the first SIGINT or SIGTERM. */
static void start_grace(struct launcher *launcher) {
    if (launcher->end.phase != BS_GROUP_RUNS)
        return;
    bs_group_end_start(&launcher->end, launcher->self, SIGTERM, BS_EXEC_GRACE_MS);
    launcher->strays_until = bs_after_ms(bs_now_ns(), STRAYS_MS);
    if (!launcher->released) {
        (void)kill(launcher->child, SIGKILL);
        launcher->has_failed = true;
        (void)set_failure(&launcher->failure, BS_LAUNCH_SANDBOX, EINTR, "ended before it began");
    }
}

static void read_signals(struct launcher *launcher) {
    struct signalfd_siginfo info;
    while (BS_RETRY(read(launcher->signal_fd, &info, sizeof info)) == (long)sizeof info) {
        if (info.ssi_signo == SIGINT || info.ssi_signo == SIGTERM)
            start_grace(launcher);
    }
}

static bool reap_children(struct launcher *launcher) {
    int status = 0;
    pid_t pid = 0;
    bool child_reaped = false;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != launcher->child)
            continue;
        child_reaped = true;
        if (!launcher->namespaces) {
            launcher->ended = true;
            launcher->wait_status = status;
        }
    }
    return child_reaped;
}

static const struct outputs no_outputs = {.n = 0};

/* End the program without the caller, because the caller was killed. */
static void end_with_caller(void) {
    (void)kill_leftover_processes(true, &no_outputs);
    (void)kill(0, SIGKILL); /* this also kills the launcher */
}

static void wait_for_events(struct launcher *launcher, bool child_ended) {
    struct pollfd set[] = {{launcher->signal_fd, POLLIN, 0},
                           {launcher->status, POLLIN, 0},
                           {launcher->bwrap_stderr, POLLIN, 0},
                           {-1, 0, 0},
                           {-1, 0, 0},
                           {launcher->report_fd, 0, 0}};
    bs_relay_poll(&launcher->relay, &set[3]);
    uint64_t now = bs_now_ns();
    uint64_t at = launcher->strays_until;
    if (launcher->end.phase != BS_GROUP_RUNS)
        at = bs_earlier(at, launcher->end.at);
    /* Check the group at intervals. A member may be no child of the launcher, and then no signal
     * reports its end. */
    if (child_ended)
        at = bs_earlier(at, bs_after_ms(now, 20));
    if (BS_RETRY(poll(set, sizeof set / sizeof *set, bs_poll_timeout(now, at))) <= 0)
        return;
    /* Read signals before the status: after SIGINT or SIGTERM the program must not be started. */
    if (set[0].revents != 0)
        read_signals(launcher);
    if (set[1].revents != 0)
        read_status(launcher);
    if (set[2].revents != 0)
        read_bwrap_stderr(launcher);
    if (set[3].revents != 0 || set[4].revents != 0)
        relay_stdin(launcher, &set[3]);
    if (set[5].revents != 0)
        end_with_caller();
}

/* True once the child has ended. During a grace period the child's group must have ended too; in a
 * namespace pid 1 waits for the group. */
static bool is_over(struct launcher *launcher, bool child_ended) {
    if (launcher->end.phase == BS_GROUP_RUNS || (child_ended && launcher->namespaces))
        return child_ended;
    return bs_group_end_step(&launcher->end, child_ended, bs_now_ns()) && child_ended;
}

static void supervise(struct launcher *launcher) {
    bool child_ended = false;
    while (!is_over(launcher, child_ended)) {
        wait_for_events(launcher, child_ended);
        uint64_t now = bs_now_ns();
        if (now >= launcher->strays_until) {
            launcher->strays_until = BS_NEVER;
            if (!launcher->namespaces)
                (void)kill_leftover_processes(false, &no_outputs);
        }
        child_ended = reap_children(launcher) || child_ended;
        if (child_ended)
            launcher->end.at = 0; /* look at the group at once */
        if (child_ended && launcher->status >= 0)
            read_status(launcher);
    }
}

static void report_failure(const struct launcher *launcher, bool reports) {
    const struct bs_launch_failure *failure = &launcher->failure;
    if (reports) {
        (void)!BS_RETRY(write(BS_LAUNCH_REPORT_FD, failure, sizeof *failure));
        return;
    }
    (void)fprintf(stderr, "boxspec-launch: %s%s%s\n", failure->words,
                  failure->words[0] != '\0' && failure->os_error != 0 ? ": " : "",
                  failure->os_error != 0 ? strerror(failure->os_error) : "");
}

static void report_killed_writers(unsigned outputs) {
    const struct bs_launch_failure record = {.step = BS_LAUNCH_KILLED_WRITERS, .outputs = outputs};
    (void)!BS_RETRY(write(BS_LAUNCH_REPORT_FD, &record, sizeof record));
}

static int end_like(int wait_status) {
    if (WIFEXITED(wait_status))
        return WEXITSTATUS(wait_status);
    int signo = WTERMSIG(wait_status);
    /* The program has dumped core already, so the launcher must not write a second core file. */
    const struct rlimit none = {0, 0};
    struct sigaction action;
    sigset_t set;
    (void)setrlimit(RLIMIT_CORE, &none);
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    (void)sigaction(signo, &action, NULL);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, signo);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    (void)kill(getpid(), signo);
    return 128 + signo;
}

/* Make a new session. The program can reach no terminal in it, and the launcher leads the program's
 * group. */
static bool lead_session(struct bs_launch_failure *failure) {
    if (getsid(0) != getpid() && setsid() == -1)
        return set_failure(failure, BS_LAUNCH_SANDBOX, 0,
                           "it leads a group but no session: start it by setsid");
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 ||
           set_failure(failure, BS_LAUNCH_SANDBOX, errno, "subreaper");
}

static bool is_socket(int fd) {
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
}

int run_outside(const struct plan *plan, struct program *program, bool reports, bool own_stdin) {
    static struct launcher launcher; /* its buffers are too large for the stack */
    launcher.plan = plan;
    launcher.program = program;
    launcher.namespaces = plan->namespaces;
    launcher.signal_fd = launcher.status = launcher.program_pipe = launcher.bwrap_stderr = -1;
    launcher.streams.from = launcher.streams.to = -1;
    launcher.stdin_source = launcher.stdin_pipe = -1;
    launcher.stdin_file = launcher.stdin_unread = -1;
    bs_relay_connect(&launcher.relay, -1, -1);
    launcher.report_fd = reports ? BS_LAUNCH_REPORT_FD : -1;
    launcher.reports_start = reports && is_socket(BS_LAUNCH_REPORT_FD);
    launcher.end.reach = &own_group;
    launcher.strays_until = BS_NEVER;
    sigset_t set;
    block_signals(&program->mask);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGCHLD);
    char *cwd = NULL;
    launcher.has_failed = true; /* reset once all steps below have succeeded */
    if (!close_from(reports ? BS_LAUNCH_REPORT_FD + 1 : 3, false))
        (void)set_failure(&launcher.failure, BS_LAUNCH_SANDBOX, errno, "descriptors");
    else if (reports && fcntl(BS_LAUNCH_REPORT_FD, F_SETFD, FD_CLOEXEC) != 0)
        (void)set_failure(&launcher.failure, BS_LAUNCH_SANDBOX, errno, "the report");
    else if (program->cwd != NULL && chdir(program->cwd) != 0)
        (void)set_failure(&launcher.failure, BS_LAUNCH_DIRECTORY, errno, program->cwd);
    else if ((cwd = getcwd(NULL, 0)) == NULL || cwd[0] != '/')
        (void)set_failure(&launcher.failure, BS_LAUNCH_DIRECTORY, cwd == NULL ? errno : ENOENT,
                          ".");
    else if (lead_session(&launcher.failure) &&
             check_stdio(&launcher, own_stdin, &launcher.failure)) {
        program->cwd = cwd;       /* the path without links */
        if (!launcher.namespaces) /* in a namespace pid 1 records the outputs */
            outputs_note(&launcher.outputs, 1, 2);
        launcher.signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        bool interrupted = false;
        /* Queue the streams here only under Landlock. In a namespace pid 1 queues them. */
        bool queued = !launcher.namespaces && stream_queue_send(0, &launcher.streams) &&
                      replace_stdio(reports);
        launcher.has_failed = launcher.signal_fd < 0 || !start_launched(&launcher, &interrupted);
        if (!launcher.has_failed) {
            if (!launcher.namespaces) /* in a namespace pid 1 reports the start */
                report_start(&launcher);
            if (!queued)
                (void)replace_stdio(reports);
            /* A signal that arrived after the fork has also reached the child, so begin the grace
             * period. */
            if (interrupted)
                start_grace(&launcher);
            supervise(&launcher);
        }
    }
    launcher.killed_outputs |= kill_leftover_processes(true, &launcher.outputs);
    give_back_stdin(&launcher);
    if (!launcher.has_failed && !launcher.ended) {
        launcher.has_failed = true;
        if (launcher.bwrap_stderr >= 0)
            read_bwrap_stderr(&launcher);
        (void)set_failure(&launcher.failure, BS_LAUNCH_SANDBOX, 0,
                          launcher.bwrap_message[0] != '\0' ? launcher.bwrap_message
                                                            : "it ended before the program");
    }
    if (launcher.has_failed) {
        report_failure(&launcher, reports);
        return BS_LAUNCH_FAILED;
    }
    if (launcher.killed_outputs != 0 && reports)
        report_killed_writers(launcher.killed_outputs);
    return end_like(launcher.wait_status);
}
