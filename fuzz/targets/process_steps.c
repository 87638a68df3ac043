/* Steps on two live processes in a generated order, some of them beside a wait in another thread.
 * They are judged by laws that hold for every order: no byte is lost, an end that was told is told
 * again, nothing of a group that was given up lives on, no descriptor stays. */
#define _GNU_SOURCE
#include <boxspec/process.h>

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "support/case.h"
#include "support/fail.h"
#include "support/lie.h"
#include "support/provider.h"

const char bs_fuzz_target[] = "process_steps";

enum { HANDLES = 2, MOST_STEPS = 24, MOST_WRITTEN = 4096, MOST_BYTES = 512 };

enum step {
    OPEN,
    WRITE,
    READ,
    CLOSE_STDIN,
    POLL,
    WAIT,
    TAKE,
    TERM,
    KILL,
    CLOSE,
    DROP,
    BESIDE,
    STEPS
};

static const char *const words[STEPS] = {"open", "write", "read", "close_stdin",
                                         "poll", "wait",  "take", "terminate",
                                         "kill", "close", "drop", "wait beside"};

struct taken {
    enum step step;
    size_t handle;
    size_t bytes;
};

static size_t draw(const uint8_t *data, size_t size, struct taken *steps) {
    struct bs_fuzz_provider from = {data, size};
    size_t n = 0;
    while (n < MOST_STEPS && from.left > 0) {
        struct taken *each = &steps[n++];
        each->step = (enum step)bs_fuzz_below(&from, STEPS);
        uint8_t more = bs_fuzz_byte(&from);
        each->handle = more % HANDLES;
        each->bytes = 1 + (size_t)more * (MOST_BYTES - 1) / 255;
    }
    return n;
}

void bs_fuzz_describe(struct bs_fuzz_case *c, const uint8_t *data, size_t size) {
    struct taken steps[MOST_STEPS];
    size_t n = draw(data, size, steps);
    bs_fuzz_case_open(c, "process.script");
    bs_fuzz_case_texts_open(c, "steps", true);
    for (size_t i = 0; i < n; i++) {
        char line[64];
        int len = snprintf(line, sizeof line, "%s %c %zu", words[steps[i].step],
                           'a' + (int)steps[i].handle, steps[i].bytes);
        bs_fuzz_case_item(c, line, (size_t)len);
    }
    bs_fuzz_case_texts_close(c);
    bs_fuzz_case_close(c);
}

/* What is known of a handle without asking the reference. */
struct model {
    struct bs_process *process;
    pid_t pid;
    int in; /* taken; -1 else */
    size_t written;
    size_t read;
    bool closed;   /* its stdin */
    bool signaled; /* what it has not echoed by then may be lost with it */
    bool ended;    /* that was told */
    struct bs_process_end end;
    pthread_t beside;
    bool has_beside;
};

static char byte_at(size_t place) { return (char)(place * 31 + place / 256); }

static unsigned descriptors(void) {
    unsigned n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir != NULL && readdir(dir) != NULL)
        n++;
    if (dir != NULL)
        (void)closedir(dir);
    return n;
}

static void open_it(struct model *model) {
    static const struct bs_stdio stdio = {BS_STDIO_PIPED, BS_STDIO_PIPED, BS_STDIO_NULL, false};
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    request.program = "/bin/cat";
    memset(model, 0, sizeof *model);
    model->in = -1;
    if (bs_process_open(&request, &stdio, NULL, &model->process, NULL) == BS_OK)
        model->pid = bs_process_pid(model->process);
}

static int stdin_of(const struct model *model) {
    return model->in >= 0 ? model->in : bs_process_stream(model->process, 0);
}

static void write_it(struct model *model, size_t bytes) {
    char text[MOST_BYTES];
    int fd = stdin_of(model);
    /* Less than a pipe holds: a write never waits for a read. */
    if (fd < 0 || model->written - model->read + bytes > MOST_WRITTEN)
        return;
    for (size_t i = 0; i < bytes; i++)
        text[i] = byte_at(model->written + i);
    ssize_t n = write(fd, text, bytes);
    if ((n != (ssize_t)bytes && !model->signaled && !model->ended) || bs_fuzz_lie("write"))
        bs_fuzz_fail("write", "%zd of %zu bytes were taken", n, bytes);
    if (n > 0)
        model->written += (size_t)n;
}

/* All that is on its way: cat writes what it has read before it looks at anything else. */
static void read_it(struct model *model) {
    char text[MOST_WRITTEN];
    int fd = bs_process_stream(model->process, 1);
    while (fd >= 0 && model->read < model->written) {
        ssize_t n = read(fd, text, sizeof text);
        if (n <= 0 && (model->signaled || (model->ended && model->end.number != 0)))
            return;
        bool right = n > 0 && model->read + (size_t)n <= model->written;
        for (size_t i = 0; right && i < (size_t)n; i++)
            right = text[i] == byte_at(model->read + i);
        if (!right || bs_fuzz_lie("bytes"))
            bs_fuzz_fail("bytes", "%zd bytes came behind the %zu that were right, of %zu", n,
                         model->read, model->written);
        model->read += (size_t)n;
    }
}

static bool is_gone(pid_t pid) { return kill(-pid, 0) != 0 && errno == ESRCH; }

/* What an answer says about the end: the first that tells one fixes it. */
static void hear(struct model *model, int code, const struct bs_process_end *end) {
    if (code != BS_OK || bs_fuzz_lie("wait"))
        bs_fuzz_fail("wait", "a wait fails with %d", code);
    if (end->state == BS_PROCESS_RUNS) {
        if (model->ended || bs_fuzz_lie("same"))
            bs_fuzz_fail("same", "it runs, and had ended");
        return;
    }
    if ((model->ended && (model->end.state != end->state || model->end.number != end->number)) ||
        bs_fuzz_lie("same"))
        bs_fuzz_fail("same", "an end is told as %d, and was %d", end->number, model->end.number);
    bool plain = end->state == BS_PROCESS_EXITED && end->number == 0;
    bool by_signal =
        end->state == BS_PROCESS_SIGNALED && (end->number == SIGTERM || end->number == SIGKILL);
    bool wanted = (model->closed && plain) || (model->signaled && by_signal);
    if (!wanted || bs_fuzz_lie("end"))
        bs_fuzz_fail("end", "it ended with %d, and nobody %s", end->number,
                     model->closed ? "sent that" : "closed its stdin");
    if (!is_gone(model->pid) || bs_fuzz_lie("survivor"))
        bs_fuzz_fail("survivor", "the end was told, and its group is there");
    model->ended = true;
    model->end = *end;
}

static void wait_it(struct model *model, const uint64_t *ms) {
    struct bs_process_end end;
    if (ms == NULL && model->in < 0)
        model->closed = true;
    /* Somebody holds its stdin: without a signal it does not end. */
    if (ms == NULL && !model->closed && !model->signaled)
        return;
    int code = bs_process_wait(model->process, ms, &end, NULL);
    hear(model, code, &end);
}

static void close_stdin(struct model *model) {
    if (model->in >= 0)
        (void)close(model->in);
    model->in = -1;
    model->closed = true;
    bs_process_close_stream(model->process, 0);
}

static void *wait_beside(void *arg) {
    const struct model *model = arg;
    static const uint64_t most = 20000;
    struct bs_process_end end;
    (void)bs_process_wait(model->process, &most, &end, NULL);
    return NULL;
}

static void join(struct model *model) {
    if (model->has_beside)
        (void)pthread_join(model->beside, NULL);
    model->has_beside = false;
}

static void drop(struct model *model) {
    pid_t pid = model->pid;
    /* A drop comes after all other calls have begun; the wait beside it must be woken by a kill. */
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

static void send(struct model *model, int signo) {
    int code = signo == SIGTERM ? bs_process_terminate(model->process, NULL)
                                : bs_process_kill(model->process, NULL);
    model->signaled = true;
    if (code != BS_OK || bs_fuzz_lie("signal"))
        bs_fuzz_fail("signal", "signal %d fails with %d", signo, code);
}

static void close_it(struct model *model) {
    struct bs_process_end end;
    bool detached = false;
    model->signaled = true;
    int code = bs_process_close(model->process, 0, &end, &detached, NULL);
    hear(model, code, &end);
    if (detached || !model->ended || bs_fuzz_lie("close"))
        bs_fuzz_fail("close", "a close leaves %s", detached ? "a writer" : "it running");
}

static void take_it(struct model *model) {
    int fd = bs_process_take(model->process, 0);
    if ((fd >= 0 && model->in >= 0) || bs_fuzz_lie("take"))
        bs_fuzz_fail("take", "a stream is taken twice");
    if (fd >= 0)
        model->in = fd;
}

static void take(struct model *model, const struct taken *step) {
    static const uint64_t at_once = 0;
    if (model->process == NULL) {
        if (step->step == OPEN)
            open_it(model);
        return;
    }
    switch (step->step) {
    case WRITE:
        write_it(model, step->bytes);
        break;
    case READ:
        read_it(model);
        break;
    case CLOSE_STDIN:
        close_stdin(model);
        break;
    case POLL:
        wait_it(model, &at_once);
        break;
    case WAIT:
        wait_it(model, NULL);
        break;
    case TAKE:
        take_it(model);
        break;
    case TERM:
        send(model, SIGTERM);
        break;
    case KILL:
        send(model, SIGKILL);
        break;
    case CLOSE:
        close_it(model);
        break;
    case DROP:
        drop(model);
        break;
    case BESIDE:
        if (!model->has_beside)
            model->has_beside = pthread_create(&model->beside, NULL, wait_beside, model) == 0;
        break;
    default:
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct taken steps[MOST_STEPS];
    struct model models[HANDLES] = {{.in = -1}, {.in = -1}};
    bs_fuzz_begin(data, size);
    (void)signal(SIGPIPE, SIG_IGN);
    size_t n = draw(data, size, steps);
    unsigned before = descriptors();
    for (size_t i = 0; i < n; i++)
        take(&models[steps[i].handle], &steps[i]);
    for (size_t i = 0; i < HANDLES; i++) {
        if (models[i].process != NULL)
            drop(&models[i]);
    }
    unsigned behind = descriptors();
    if (behind != before || bs_fuzz_lie("descriptors"))
        bs_fuzz_fail("descriptors", "%u were open, %u are", before, behind);
    return 0;
}
