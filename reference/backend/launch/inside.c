/* Pid 1 of a namespace. When it ends, the kernel ends everything in the namespace before anybody
 * outside can see that it ended. */
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

/* The program's words and environment, in lists that end with NULL: a number of words, these, and
 * the rest. bubblewrap takes 9,000 words in all, so they do not come through it. */
static bool split(struct program *program, char *text, size_t len) {
    size_t count = 0;
    for (size_t i = 0; i < len; i++)
        count += text[i] == '\0';
    char *rest = NULL;
    unsigned long n_words = strtoul(text, &rest, 10);
    if (rest == text || *rest != '\0' || n_words == 0 || n_words >= count)
        return false;
    char **list = calloc(count + 2, sizeof *list);
    if (list == NULL)
        return false;
    char *entry = rest + 1;
    program->argv = list;
    for (size_t i = 1; i < count; i++) {
        *list++ = entry;
        entry += strlen(entry) + 1;
        if (i == n_words)
            program->envp = ++list; /* behind the end of the words */
    }
    return true;
}

/* The end of the stream is the word to go: nothing is started without it. */
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
    /* The last byte is a NUL of its own, so that a writer who died is noticed. */
    if (text.failed || n < 0 || text.len == 0 || text.data[text.len - 1] != '\0') {
        return failed(failure, BS_LAUNCH_SANDBOX, 0, "the outside is gone");
    }
    return split(program, text.data, text.len - 1) ||
           failed(failure, BS_LAUNCH_SANDBOX, ENOMEM, "the words of the program");
}

struct birth {
    const struct program *program;
    struct status *status;
    struct handover streams;
};

static int become(void *ctx) {
    const struct birth *birth = ctx;
    const struct program *program = birth->program;
    struct bs_launch_failure *failure = &birth->status->failure;
    /* No controlling terminal, and no group that is shared with anybody outside. */
    (void)setsid();
    if (!take_over(&birth->streams, STDIN_FD))
        (void)failed(failure, BS_LAUNCH_SANDBOX, errno, "descriptors");
    else if (program->cwd != NULL && chdir(program->cwd) != 0)
        (void)failed(failure, BS_LAUNCH_DIRECTORY, errno, program->cwd);
    else
        execute(program, failure);
    birth->status->kind = STATUS_FAILED;
    _exit(127);
    return 127;
}

static void close_streams(void) {
    for (int fd = STDIN_FD; fd <= STDERR_FD; fd++)
        (void)close(fd);
}

/* The streams before the filter, which refuses sockets. */
static bool prepare(const struct inside *words, struct handover *streams,
                    struct bs_launch_failure *failure) {
    void *filter = NULL;
    size_t len = 0;
    if (words->filtered && !read_filter(FILTER_FD, &filter, &len, failure))
        return false;
    if (!close_from(FILTER_FD, false) || !close_from(STATUS_FD, true))
        return failed(failure, BS_LAUNCH_SANDBOX, errno, "descriptors");
    if (hand_over(STDIN_FD, streams))
        close_streams();
    if (words->seal[0] != '\0' && (!keep_mounts(failure) || !seal(words->seal, failure)))
        return false;
    if (!drop_privileges(failure) || !apply_grants(&words->grants, failure) ||
        (words->filtered && !apply_filter(filter, len, failure)))
        return false;
    /* The program must not reach into this process, which has the status pipe. */
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ||
           failed(failure, BS_LAUNCH_SANDBOX, errno, "dumpable");
}

/* Collects what ended. True once the program itself did. */
static void collect(pid_t program, bool *ended, int *wait_status) {
    int status = 0;
    pid_t pid = 0;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == program) {
            *ended = true;
            *wait_status = status;
        }
    }
}

/* Everything here but pid 1 itself gets what came from outside. The group of the program has its
 * grace although the program is gone. */
static int supervise(pid_t program, const sigset_t *set) {
    bool ended = false;
    int wait_status = 0;
    uint64_t until = BS_NEVER;
    while (!ended || (until != BS_NEVER && kill(-program, 0) == 0)) {
        uint64_t now = bs_now_ns();
        if (now >= until) {
            (void)kill(-1, SIGKILL);
            until = bs_after_ms(now, BS_EXEC_KILL_MS);
        }
        uint64_t left = until != BS_NEVER ? until - now : UINT64_C(3600000000000);
        struct timespec wait = {(time_t)(left / 1000000000U), (long)(left % 1000000000U)};
        int signo = sigtimedwait(set, NULL, &wait);
        if (signo == SIGINT || signo == SIGTERM || signo == SIGCONT)
            (void)kill(-1, signo);
        if ((signo == SIGINT || signo == SIGTERM) && until == BS_NEVER)
            until = bs_after_ms(bs_now_ns(), BS_EXEC_GRACE_MS);
        collect(program, &ended, &wait_status);
    }
    return wait_status;
}

int inside(const struct inside *words, struct program *program) {
    const char *mask = words->mask;
    struct status status = {.kind = STATUS_READY};
    sigset_t ignored;
    sigset_t set;
    block_signals(&ignored);
    (void)sigemptyset(&program->mask);
    for (int signo = 1; signo <= 64 && mask[signo - 1] != '\0'; signo++) {
        if (mask[signo - 1] == '1')
            (void)sigaddset(&program->mask, signo);
    }
    /* No signal is lost from here on: while this is read outside, and the environment comes, there
     * is more to do. */
    send_status(STATUS_FD, &status);
    struct birth birth = {program, &status, {-1, -1}};
    if (!prepare(words, &birth.streams, &status.failure))
        goto failure;
    if (!read_program(program, &status.failure))
        goto failure;
    pid_t pid = start_child(become, &birth);
    if (pid < 0) {
        (void)failed(&status.failure, BS_LAUNCH_PROGRAM, errno, "");
        goto failure;
    }
    if (status.kind == STATUS_FAILED)
        goto failure;
    status.kind = STATUS_STARTED;
    if (words->tells)
        send_status(STATUS_FD, &status);
    if (birth.streams.from < 0) /* else others may have these numbers by now */
        close_streams();
    let_go_of_handover(&birth.streams);
    (void)let_go_of_stdio(true); /* 2 is what bubblewrap says its words to */
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGCONT);
    (void)sigaddset(&set, SIGCHLD);
    status.kind = STATUS_ENDED;
    status.wait_status = supervise(pid, &set);
    send_status(STATUS_FD, &status);
    return 0;
failure:
    status.kind = STATUS_FAILED;
    send_status(STATUS_FD, &status);
    return BS_LAUNCH_FAILED;
}
