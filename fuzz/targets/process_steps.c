/* Steps on two live processes in a generated order, some of them during a wait in another thread.
 * They are checked by laws that hold for every order: no byte is lost; an end that was reported is
 * always reported alike; no group member survives the end of its group; no descriptor stays open; a
 * failed opening gives no handle; if another part of the program reaps the child, every wait is an
 * error. */
#include <boxspec/process.h>

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>

#include "support/case.h"
#include "support/fail.h"
#include "support/lie.h"
#include "support/live.h"
#include "support/opening.h"
#include "support/provider.h"

const char bs_fuzz_target[] = "process_steps";

enum { HANDLES = 2, MOST_STEPS = 24 };

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
    HOLD,
    STEAL,
    STEPS
};

static const char *const words[STEPS] = {
    "open", "write", "read", "close_stdin",      "poll",        "wait", "take", "terminate",
    "kill", "close", "drop", "wait in a thread", "hold stdout", "steal"};

struct planned_step {
    enum step step;
    size_t handle;
    size_t bytes;
    struct bs_opening opening;
    uint64_t grace_ms;
};

static size_t draw_steps(const uint8_t *data, size_t size, struct planned_step *steps) {
    struct bs_fuzz_provider from = {data, size};
    size_t n = 0;
    while (n < MOST_STEPS && from.left > 0) {
        struct planned_step *each = &steps[n++];
        each->step = (enum step)bs_fuzz_below(&from, STEPS);
        uint8_t more = bs_fuzz_byte(&from);
        each->handle = more % HANDLES;
        each->bytes = 1 + (size_t)more * (BS_FUZZ_LIVE_BYTES - 1) / 255;
        each->opening.kind = (enum bs_opening_kind)(more / HANDLES % BS_OPENINGS);
        each->opening.variant = more / (HANDLES * BS_OPENINGS);
        each->grace_ms = more < 128 ? 0 : 20;
    }
    return n;
}

void bs_fuzz_describe(struct bs_fuzz_case *c, const uint8_t *data, size_t size) {
    struct planned_step steps[MOST_STEPS];
    size_t n = draw_steps(data, size, steps);
    bs_fuzz_case_open(c, "process.script");
    bs_fuzz_case_texts_open(c, "steps", true);
    for (size_t i = 0; i < n; i++) {
        char line[64];
        int len = snprintf(line, sizeof line, "%s %c %zu %d.%u", words[steps[i].step],
                           'a' + (int)steps[i].handle, steps[i].bytes, (int)steps[i].opening.kind,
                           steps[i].opening.variant);
        bs_fuzz_case_item(c, line, (size_t)len);
    }
    bs_fuzz_case_texts_close(c);
    bs_fuzz_case_close(c);
}
static unsigned descriptors(void) {
    unsigned n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir != NULL && readdir(dir) != NULL)
        n++;
    if (dir != NULL)
        (void)closedir(dir);
    return n;
}

static void run_step(struct bs_fuzz_live *model, struct planned_step *step) {
    static const uint64_t at_once = 0;
    if (model->process == NULL) {
        if (step->step == OPEN)
            bs_fuzz_live_open(model, &step->opening);
        else
            bs_process_drop(NULL);
        return;
    }
    switch (step->step) {
    case WRITE:
        bs_fuzz_live_write(model, step->bytes);
        break;
    case READ:
        bs_fuzz_live_read(model);
        break;
    case CLOSE_STDIN:
        bs_fuzz_live_close_stdin(model);
        break;
    case POLL:
        bs_fuzz_live_wait(model, &at_once);
        break;
    case WAIT:
        bs_fuzz_live_wait(model, NULL);
        break;
    case TAKE:
        bs_fuzz_live_take(model);
        break;
    case TERM:
        bs_fuzz_live_send(model, SIGTERM);
        break;
    case KILL:
        bs_fuzz_live_send(model, SIGKILL);
        break;
    case CLOSE:
        bs_fuzz_live_close(model, step->grace_ms);
        break;
    case DROP:
        bs_fuzz_live_drop(model);
        break;
    case BESIDE:
        bs_fuzz_live_wait_beside(model);
        break;
    case HOLD:
        bs_fuzz_live_hold(model);
        break;
    case STEAL:
        bs_fuzz_live_steal(model);
        break;
    default:
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct planned_step steps[MOST_STEPS];
    struct bs_fuzz_live models[HANDLES] = {BS_FUZZ_LIVE_INIT, BS_FUZZ_LIVE_INIT};
    bs_fuzz_begin(data, size);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1UL);
    size_t n = draw_steps(data, size, steps);
    unsigned before = descriptors();
    for (size_t i = 0; i < n; i++) {
        /* With SIGCHLD ignored, the system would reap the children of the other process too. */
        if (steps[i].opening.kind == BS_OPENING_COLLECTED &&
            models[1 - steps[i].handle].process != NULL)
            steps[i].opening.kind = BS_OPENING_ALONE;
        run_step(&models[steps[i].handle], &steps[i]);
    }
    for (size_t i = 0; i < HANDLES; i++) {
        if (models[i].process != NULL)
            bs_fuzz_live_drop(&models[i]);
    }
    unsigned after = descriptors();
    if (after != before || bs_fuzz_lie("descriptors"))
        bs_fuzz_fail("descriptors", "%u were open, %u are", before, after);
    return 0;
}
