#define _GNU_SOURCE
#include "support/live.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"
#include "support/fail.h"
#include "support/lie.h"

enum { MOST_WRITTEN = 4096 };

static char byte_at(size_t place) { return (char)(place * 31 + place / 256); }

static void close_held(struct bs_fuzz_live *model) {
    if (model->held >= 0)
        (void)close(model->held);
    model->held = -1;
}

static int stdin_of(const struct bs_fuzz_live *model) {
    return model->in >= 0 ? model->in : bs_process_stream(model->process, 0);
}

void bs_fuzz_live_write(struct bs_fuzz_live *model, size_t bytes) {
    char text[BS_FUZZ_LIVE_BYTES];
    int fd = stdin_of(model);
    /* Leave less unread than a pipe holds, so that a write never blocks. */
    if (fd < 0 || model->written - model->read + bytes > MOST_WRITTEN)
        return;
    for (size_t i = 0; i < bytes; i++)
        text[i] = byte_at(model->written + i);
    ssize_t n = (ssize_t)BS_RETRY(write(fd, text, bytes));
    if ((n != (ssize_t)bytes && !model->signaled && !model->ended) || bs_fuzz_lie("write"))
        bs_fuzz_fail("write", "%zd of %zu bytes were written", n, bytes);
    if (n > 0)
        model->written += (size_t)n;
}

/* Read all output that has not come back yet. The output is complete, because `cat` writes all that
 * it has read before it does anything else. */
void bs_fuzz_live_read(struct bs_fuzz_live *model) {
    char text[MOST_WRITTEN];
    int fd = bs_process_stream(model->process, 1);
    /* Return early after a signal, because the signal may have lost output, and the read would wait
     * for it. */
    if (model->signaled || model->ended)
        close_held(model);
    while (fd >= 0 && model->read < model->written) {
        ssize_t n = (ssize_t)BS_RETRY(read(fd, text, sizeof text));
        if (n <= 0 && (model->signaled || (model->ended && model->end.number != 0)))
            return;
        bool right = n > 0 && model->read + (size_t)n <= model->written;
        for (size_t i = 0; right && i < (size_t)n; i++)
            right = text[i] == byte_at(model->read + i);
        if (!right || bs_fuzz_lie("bytes"))
            bs_fuzz_fail("bytes", "%zd bytes were read after %zu right ones, of %zu", n,
                         model->read, model->written);
        model->read += (size_t)n;
    }
}

void bs_fuzz_live_open(struct bs_fuzz_live *model, struct bs_opening *opening) {
    struct bs_error err = BS_ERROR_INIT;
    memset(model, 0, sizeof *model);
    model->in = model->held = -1;
    int code = bs_opening_try(opening, &model->process, &err);
    int wanted = bs_opening_code(opening->kind);
    /* an open may always fail with BS_E_EXECUTION, because memory may run out */
    bool is_right = code == wanted || code == BS_E_EXECUTION;
    if (!is_right || (code == BS_OK) != (model->process != NULL) ||
        (code != BS_OK && err.message[0] == '\0') || bs_fuzz_lie("opened"))
        bs_fuzz_fail("opened", "%d, and should be %d: %s", code, wanted, err.message);
    if (model->process == NULL)
        return;
    model->pid = bs_process_pid(model->process);
    model->has_members = opening->kind == BS_OPENING_MEMBER || opening->kind == BS_OPENING_STUBBORN;
    if (opening->kind != BS_OPENING_ALONE) {
        /* Wait until `cat` has started, because before that the shell would receive the signals. */
        bs_fuzz_live_write(model, 1);
        bs_fuzz_live_read(model);
    }
}

/* Wait until the group is empty. This process is the subreaper and reaps the orphans. It does not
 * reap the leader, because only the library may do that. */
static bool is_gone(pid_t pid) {
    const struct timespec moment = {.tv_nsec = 1000000};
    for (int i = 0; i < 2000; i++) {
        siginfo_t info = {0};
        int code = waitid(P_PGID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
        if (code == 0 && info.si_pid != 0 && info.si_pid != pid)
            (void)waitid(P_PID, (id_t)info.si_pid, &info, WEXITED | WNOHANG);
        else if (kill(-pid, 0) != 0 && errno == ESRCH)
            return true;
        else
            (void)nanosleep(&moment, NULL);
    }
    return false;
}

/* Check the answer of a wait against the steps so far. After an end was reported, every later
 * answer must be the same. */
static void check_end(struct bs_fuzz_live *model, int code, const struct bs_process_end *end) {
    if (model->stolen) {
        if (code != BS_E_EXECUTION || bs_fuzz_lie("stolen"))
            bs_fuzz_fail("stolen", "the end was reaped outside the library, and the code is %d",
                         code);
        return;
    }
    if (code != BS_OK || bs_fuzz_lie("wait"))
        bs_fuzz_fail("wait", "a wait fails with %d", code);
    if (end->state == BS_PROCESS_RUNS) {
        if (model->ended || bs_fuzz_lie("same"))
            bs_fuzz_fail("same", "it runs, and had ended");
        return;
    }
    if ((model->ended && (model->end.state != end->state || model->end.number != end->number)) ||
        bs_fuzz_lie("same"))
        bs_fuzz_fail("same", "the end is reported as %d, and was %d", end->number,
                     model->end.number);
    bool plain = end->state == BS_PROCESS_EXITED && end->number == 0;
    bool by_signal =
        end->state == BS_PROCESS_SIGNALED && (end->number == SIGTERM || end->number == SIGKILL);
    bool wanted = (model->closed && plain) || (model->signaled && by_signal);
    if (!wanted || bs_fuzz_lie("end"))
        bs_fuzz_fail("end", "it ended with %d, and no step %s", end->number,
                     model->closed ? "sent that signal" : "closed its stdin");
    if (!is_gone(model->pid) || bs_fuzz_lie("survivor"))
        bs_fuzz_fail("survivor", "the end was reported, and its group still exists");
    model->ended = true;
    model->end = *end;
}

void bs_fuzz_live_wait(struct bs_fuzz_live *model, const uint64_t *ms) {
    struct bs_process_end end;
    if (ms == NULL && model->in < 0)
        model->closed = true;
    /* Without a limit, wait only if the child will end. Otherwise another writer may hold its stdin
     * open, and then only a signal ends the child. */
    if (ms == NULL && !model->closed && !model->signaled)
        return;
    int code = bs_process_wait(model->process, ms, &end, NULL);
    check_end(model, code, &end);
}

void bs_fuzz_live_close_stdin(struct bs_fuzz_live *model) {
    if (model->in >= 0)
        (void)close(model->in);
    model->in = -1;
    model->closed = true;
    bs_process_close_stream(model->process, 0);
}

static void *wait_beside(void *arg) {
    const struct bs_fuzz_live *model = arg;
    static const uint64_t most = 20000;
    struct bs_process_end end;
    (void)bs_process_wait(model->process, &most, &end, NULL);
    return NULL;
}

void bs_fuzz_live_wait_beside(struct bs_fuzz_live *model) {
    if (!model->has_beside)
        model->has_beside = pthread_create(&model->beside, NULL, wait_beside, model) == 0;
}

static void join(struct bs_fuzz_live *model) {
    if (model->has_beside)
        (void)pthread_join(model->beside, NULL);
    model->has_beside = false;
}

void bs_fuzz_live_drop(struct bs_fuzz_live *model) {
    pid_t pid = model->pid;
    close_held(model);
    /* A drop may start only when no other call is running. The kill makes the concurrent wait
     * return. */
    if (model->has_beside)
        (void)bs_process_kill(model->process, NULL);
    join(model);
    bs_process_drop(model->process);
    if (!is_gone(pid) || bs_fuzz_lie("survivor"))
        bs_fuzz_fail("survivor", "it was dropped, and its group is there");
    if (model->in >= 0)
        (void)close(model->in);
    model->process = NULL;
}

void bs_fuzz_live_send(struct bs_fuzz_live *model, int signo) {
    int code = signo == SIGTERM ? bs_process_terminate(model->process, NULL)
                                : bs_process_kill(model->process, NULL);
    model->signaled = true;
    if (code != BS_OK || bs_fuzz_lie("signal"))
        bs_fuzz_fail("signal", "signal %d fails with %d", signo, code);
}

void bs_fuzz_live_close(struct bs_fuzz_live *model, uint64_t grace_ms) {
    struct bs_process_end end;
    bool detached = false;
    bool again = model->ended;
    bool held = model->detached || model->held >= 0;
    model->signaled = true;
    /* Without free descriptors the library can neither list the members of the group nor wait for
     * their end. */
    struct rlimit before = bs_opening_squeeze(grace_ms > 0 && !model->has_members ? 0 : 64);
    int code = bs_process_close(model->process, grace_ms, &end, again ? NULL : &detached, NULL);
    (void)setrlimit(RLIMIT_NOFILE, &before);
    check_end(model, code, &end);
    if ((!again && detached != held) || (!model->ended && !model->stolen) || bs_fuzz_lie("close"))
        bs_fuzz_fail("close", "a close leaves %s", !model->ended ? "it running" : "a writer");
    model->detached = held;
    if (bs_process_stream(model->process, 1) >= 0 || bs_fuzz_lie("close"))
        bs_fuzz_fail("close", "a close leaves a stream open");
}

/* Open the child's stdout for writing outside the group, so that the pipe stays open. */
void bs_fuzz_live_hold(struct bs_fuzz_live *model) {
    char path[64];
    if (model->held >= 0 || model->ended || model->signaled || model->stolen ||
        bs_process_stream(model->process, 1) < 0)
        return;
    (void)snprintf(path, sizeof path, "/proc/%d/fd/1", (int)model->pid);
    model->held = (int)BS_RETRY(open(path, O_WRONLY | O_CLOEXEC));
}

/* Reap the leader, as an embedding program does that waits for any child. Do not do this during a
 * concurrent wait, because the wait could reap the leader first. */
void bs_fuzz_live_steal(struct bs_fuzz_live *model) {
    siginfo_t info;
    if (model->ended || model->has_beside)
        return;
    (void)kill(-model->pid, SIGKILL);
    model->signaled = true;
    if (BS_RETRY(waitid(P_PID, (id_t)model->pid, &info, WEXITED)) != 0)
        return;
    model->stolen = true;
    /* wait for the members: a member that is exiting may still hold inherited descriptors */
    (void)is_gone(model->pid);
}

void bs_fuzz_live_take(struct bs_fuzz_live *model) {
    int fd = bs_process_take(model->process, 0);
    if ((fd >= 0 && model->in >= 0) || bs_fuzz_lie("take"))
        bs_fuzz_fail("take", "one stream could be taken twice");
    if (fd >= 0)
        model->in = fd;
}
