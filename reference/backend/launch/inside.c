/* The process with pid 1 in a namespace. It starts the program. When pid 1 ends, the kernel first
 * kills every other process in the namespace, and only then tells the parent that pid 1 has
 * ended. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/launch/launch.h"
#include "backend/plan/plan.h"
#include "base/buf.h"
#include "base/sys.h"
#include "exec/group_end.h"

/* Split the text from the pipe. It has the numbers of arguments, of environment variables and of
 * mounts, then each of them, followed by a NUL. The numbers show whether one is missing. A pipe is
 * used because bubblewrap accepts at most 9,000 arguments on its command line. */
static bool split_program(struct program *program, char *text, size_t len) {
    size_t count = 0;
    for (size_t i = 0; i < len; i++)
        count += text[i] == '\0';
    char *second = NULL;
    char *third = NULL;
    char *rest = NULL;
    unsigned long n_args = strtoul(text, &second, 10);
    unsigned long n_env = strtoul(second, &third, 10);
    unsigned long n_mounts = strtoul(third, &rest, 10);
    if (second == text || third == second || rest == third || *rest != '\0' || n_args == 0 ||
        n_args >= count || n_env >= count - n_args || n_mounts != count - 1 - n_args - n_env)
        return false;
    char **list = calloc(count + 3, sizeof *list);
    if (list == NULL)
        return false;
    char *entry = rest + 1;
    /* Each list ends with a NULL. */
    program->argv = list;
    program->envp = list + n_args + 1;
    program->mounts = program->envp + n_env + 1;
    for (size_t i = 0; i < count - 1; i++) {
        size_t ended = (i >= n_args) + (i >= n_args + n_env);
        list[i + ended] = entry;
        entry += strlen(entry) + 1;
    }
    return true;
}

/* Read the program from the pipe. The launcher closes the pipe when the program may start. */
static bool read_program(struct program *program, struct bs_launch_failure *failure) {
    enum { CHUNK = 64 * 1024 };
    struct bs_buf text = BS_BUF_INIT;
    ssize_t n = 0;
    do {
        if (!bs_buf_reserve(&text, CHUNK))
            break;
        n = (ssize_t)BS_RETRY(read(PROGRAM_FD, text.data + text.len, CHUNK));
        if (n > 0)
            text.len += (size_t)n;
    } while (n > 0);
    /* The last byte must be an extra NUL. If it is missing, the launcher ended before it had
     * written everything. */
    if (text.failed || n < 0 || text.len == 0 || text.data[text.len - 1] != '\0') {
        return set_failure(failure, BS_LAUNCH_SANDBOX, 0, "the launcher has ended");
    }
    return split_program(program, text.data, text.len - 1) ||
           set_failure(failure, BS_LAUNCH_SANDBOX, ENOMEM, "the arguments of the program");
}

struct child_setup {
    const struct program *program;
    struct status *status;
    struct stream_queue streams;
};

static int run_child(void *ctx) {
    const struct child_setup *setup = ctx;
    const struct program *program = setup->program;
    struct bs_launch_failure *failure = &setup->status->failure;
    /* Make a new session, so that the program has no controlling terminal and shares no group with
     * a process outside. */
    (void)setsid();
    if (!stream_queue_receive(&setup->streams, STDIN_FD))
        (void)set_failure(failure, BS_LAUNCH_SANDBOX, errno, "descriptors");
    else if (program->cwd != NULL && chdir(program->cwd) != 0)
        (void)set_failure(failure, BS_LAUNCH_DIRECTORY, errno, program->cwd);
    else
        execute(program, failure);
    setup->status->kind = STATUS_FAILED;
    _exit(127);
    return 127;
}

static void close_streams(void) {
    for (int fd = STDIN_FD; fd <= STDERR_FD; fd++)
        (void)close(fd);
}

/* Prepare the start of the program, and read it. The streams are queued before the filter is
 * applied, because the filter refuses sockets. The mounts are checked while pid 1 of root still has
 * the capability to look into each directory. */
static bool prepare(const struct inside_options *options, struct program *program,
                    struct outputs *outputs, struct stream_queue *queue,
                    struct bs_launch_failure *failure) {
    void *filter = NULL;
    size_t len = 0;
    if (options->filtered && !read_filter(FILTER_FD, &filter, &len, failure))
        return false;
    if (!close_from(FILTER_FD, false) || !close_from(STATUS_FD, true))
        return set_failure(failure, BS_LAUNCH_SANDBOX, errno, "descriptors");
    outputs_note(outputs, STDOUT_FD, STDERR_FD);
    if (stream_queue_send(STDIN_FD, queue))
        close_streams();
    if (options->read_only_proc[0] != '\0' &&
        (!refuse_mount_events(failure) || !make_proc_read_only(options->read_only_proc, failure)))
        return false;
    if (!read_program(program, failure))
        return false;
    for (char *const *mount = program->mounts; *mount != NULL; mount++) {
        if (!planned_mounts_check(*mount, failure))
            return false;
    }
    if (!drop_privileges(failure) || !apply_grants(&options->grants, failure) ||
        (options->filtered && !apply_filter(filter, len, failure)))
        return false;
    /* Make this process not dumpable. The program could trace it otherwise, and write to the status
     * pipe. */
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ||
           set_failure(failure, BS_LAUNCH_SANDBOX, errno, "dumpable");
}

/* Reap all children that have ended. If the program is among them, set *ended and *wait_status. */
static void reap_children(pid_t program, bool *ended, int *wait_status) {
    int status = 0;
    pid_t pid = 0;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == program) {
            *ended = true;
            *wait_status = status;
        }
    }
}

/* Signal every process of the namespace except pid 1. SIGCONT is not sent here, because pid 1
 * forwards each SIGCONT that it receives. */
static bool signal_namespace(pid_t program, int signo) {
    (void)program;
    return signo == SIGCONT || kill(-1, signo) == 0 || errno == ESRCH;
}

/* Look for members of the program's group. They are not counted: pid 1 reaps all orphans, so a
 * group that is not empty has a live member. */
static struct bs_members find_in_group(pid_t program, uint64_t not_after) {
    (void)not_after;
    return (struct bs_members){.known = true, .alive = bs_group_empty(program) ? 0 : 1};
}

static bool is_over(struct bs_group_end *end, bool ended) {
    if (end->phase == BS_GROUP_RUNS)
        return ended;
    return bs_group_end_step(end, ended, bs_now_ns()) && ended;
}

static void wait_for_signal(struct bs_group_end *end, pid_t program, const sigset_t *set) {
    bool is_ending = end->phase != BS_GROUP_RUNS && end->phase != BS_GROUP_ENDED;
    uint64_t now = bs_now_ns();
    uint64_t left = !is_ending ? UINT64_C(3600000000000) : end->at > now ? end->at - now : 0;
    struct timespec wait = {(time_t)(left / 1000000000U), (long)(left % 1000000000U)};
    int signo = sigtimedwait(set, NULL, &wait);
    if (signo == SIGCONT)
        (void)kill(-1, SIGCONT);
    if ((signo == SIGINT || signo == SIGTERM) && end->phase <= BS_GROUP_GRACE)
        bs_group_end_start(end, program, signo, BS_EXEC_GRACE_MS);
    if (signo == SIGCHLD)
        end->at = 0; /* a member may have ended */
}

/* Wait until the program has ended. Forward SIGINT, SIGTERM and SIGCONT to every process of the
 * namespace except pid 1. After SIGINT or SIGTERM, the program's group has the grace period, even
 * if the program itself ends earlier. Returns the program's wait status. */
static int supervise(pid_t program, const sigset_t *set) {
    static const struct bs_group_reach whole_namespace = {signal_namespace, find_in_group};
    struct bs_group_end end = {.reach = &whole_namespace};
    bool ended = false;
    int wait_status = 0;
    while (!is_over(&end, ended)) {
        wait_for_signal(&end, program, set);
        reap_children(program, &ended, &wait_status);
    }
    return wait_status;
}

int run_inside(const struct inside_options *options, struct program *program) {
    const char *mask = options->mask;
    struct status status = {.kind = STATUS_READY};
    sigset_t ignored;
    sigset_t set;
    block_signals(&ignored);
    (void)sigemptyset(&program->mask);
    for (int signo = 1; signo <= 64 && mask[signo - 1] != '\0'; signo++) {
        if (mask[signo - 1] == '1')
            (void)sigaddset(&program->mask, signo);
    }
    /* Report that pid 1 is ready: its signals are blocked, so a signal for the program is not lost.
     * The report comes before the rest of the set-up, so that the launcher sends the environment
     * meanwhile. */
    send_status(STATUS_FD, &status);
    struct child_setup setup = {program, &status, {-1, -1}};
    struct outputs outputs = {.n = 0};
    if (!prepare(options, program, &outputs, &setup.streams, &status.failure))
        goto failure;
    pid_t pid = start_child(run_child, &setup);
    if (pid < 0) {
        (void)set_failure(&status.failure, BS_LAUNCH_PROGRAM, errno, "");
        goto failure;
    }
    if (status.kind == STATUS_FAILED)
        goto failure;
    status.kind = STATUS_STARTED;
    if (options->reports_start)
        send_status(STATUS_FD, &status);
    /* Close pid 1's copies of the program's streams. If the streams were queued, prepare has closed
     * the copies already, and their numbers may be in use again. */
    if (setup.streams.from < 0)
        close_streams();
    stream_queue_close(&setup.streams);
    /* keep descriptor 2: it is the pipe that collects bubblewrap's messages */
    (void)replace_stdio(true);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGCONT);
    (void)sigaddset(&set, SIGCHLD);
    status.kind = STATUS_ENDED;
    status.wait_status = supervise(pid, &set);
    /* The end of pid 1 will kill all other processes. If one of them holds an output, report it. */
    status.killed_outputs = kill(-1, 0) == 0 ? outputs_held(&outputs) : 0;
    send_status(STATUS_FD, &status);
    return 0;
failure:
    status.kind = STATUS_FAILED;
    send_status(STATUS_FD, &status);
    return BS_LAUNCH_FAILED;
}
