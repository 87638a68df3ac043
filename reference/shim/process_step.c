#define _GNU_SOURCE
#include "shim/process_step.h"

#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/sys.h"
#include "shim/answer.h"

const char *const bs_step_names[BS_STEP_KINDS] = {
    [BS_STEP_OPEN] = "open",
    [BS_STEP_STREAMS] = "streams",
    [BS_STEP_TAKE] = "take",
    [BS_STEP_WRITE] = "write",
    [BS_STEP_READ_UNTIL] = "read_until",
    [BS_STEP_READ_EOF] = "read_eof",
    [BS_STEP_CLOSE_STDIN] = "close_stdin",
    [BS_STEP_POLL] = "poll",
    [BS_STEP_WAIT] = "wait",
    [BS_STEP_TERMINATE] = "terminate",
    [BS_STEP_KILL] = "kill",
    [BS_STEP_CLOSE] = "close",
    [BS_STEP_DROP] = "drop",
    [BS_STEP_JOIN] = "join",
    [BS_STEP_REPEAT] = "repeat",
};

/* The answer has the length and the digest of each stream. It has the bytes too if there are at
 * most SHORT of them. */
enum { SHORT = 64 * 1024, CHUNK = 64 * 1024 };

static void put_count(struct bs_json_writer *out, const char *name, uint64_t value) {
    bs_json_put_key(out, name);
    bs_json_put_u64(out, value);
}

static void put_flag(struct bs_json_writer *out, const char *name, bool value) {
    bs_json_put_key(out, name);
    bs_json_put_bool(out, value);
}

static void put_failure(struct bs_script_step *step, int code, const char *message) {
    bs_put_error(&step->result, code, message);
    step->failed = true;
}

/* Write the name of an errno, because the number of an error differs between systems. */
static void put_errno(struct bs_json_writer *out, int os_error) {
    const char *name = strerrorname_np(os_error);
    bs_json_put_key(out, "errno");
    bs_json_put_text(out, name != NULL ? name : "?");
}

void bs_put_end(struct bs_json_writer *out, const struct bs_process_end *end) {
    if (end->state == BS_PROCESS_RUNS) {
        put_flag(out, "running", true);
    } else if (end->state == BS_PROCESS_EXITED) {
        put_count(out, "exited", (uint64_t)end->number);
    } else {
        bs_json_put_key(out, "signaled");
        bs_put_signal(out, end->number);
    }
}

/* Return a duplicate of the stream's descriptor, or -1 with errno: EBADF if the handle has no such
 * stream. The steps use duplicates because another thread may close the handle during the step, and
 * the number of its descriptor could then belong to another file. */
static int open_stream(const struct bs_script_step *step) {
    const struct bs_script_handle *handle = step->handle;
    int taken = handle->taken[step->stream];
    int fd = taken >= 0 ? taken : bs_process_stream(handle->process, step->stream);
    return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static void open_it(struct bs_script_step *step) {
    struct bs_script_handle *handle = step->handle;
    struct bs_error err = BS_ERROR_INIT;
    if (handle->process != NULL) {
        put_failure(step, BS_E_INVALID, "the handle is open; drop it first");
        return;
    }
    struct bs_process *process = NULL;
    int code = bs_process_open(&handle->request, &handle->stdio, handle->sandbox, &process, &err);
    if (code != BS_OK) {
        put_failure(step, code, err.message);
        return;
    }
    handle->process = process;
    /* Close the descriptors that were taken from the process that this handle had before. */
    for (int stream = 0; stream < 3; stream++)
        bs_close(&handle->taken[stream]);
    put_count(&step->result, "pid", (uint64_t)bs_process_pid(process));
}

static void write_all(struct bs_script_step *step) {
    (void)pthread_mutex_lock(&step->handle->writing);
    int fd = open_stream(step);
    size_t done = 0;
    int os_error = fd < 0 ? errno : 0;
    while (os_error == 0 && done < step->data_len) {
        ssize_t n = (ssize_t)BS_RETRY(write(fd, step->data + done, step->data_len - done));
        os_error = n < 0 ? errno : 0;
        done += n > 0 ? (size_t)n : 0;
    }
    bs_close(&fd);
    (void)pthread_mutex_unlock(&step->handle->writing);
    put_count(&step->result, "written", done);
    if (os_error != 0)
        put_errno(&step->result, os_error);
}

/* Read until the given bytes were read. Each call reads one byte, because the bytes after the match
 * are for the next step. */
static void read_until(struct bs_script_step *step) {
    struct bs_buf got = BS_BUF_INIT;
    int fd = open_stream(step);
    ssize_t n = fd >= 0 ? 1 : 0;
    int os_error = fd >= 0 || errno == EBADF ? 0 : errno;
    while (n > 0 && bs_buf_reserve(&got, 1)) {
        n = (ssize_t)BS_RETRY(read(fd, got.data + got.len, 1));
        os_error = n < 0 ? errno : 0;
        got.len += n > 0 ? 1 : 0;
        if (got.len >= step->data_len && n > 0 &&
            memcmp(got.data + got.len - step->data_len, step->data, step->data_len) == 0)
            break;
    }
    bs_close(&fd);
    bs_json_put_key(&step->result, "data_b64");
    bs_json_put_base64(&step->result, got.data, got.len);
    put_flag(&step->result, "eof", n == 0);
    if (os_error != 0)
        put_errno(&step->result, os_error);
    step->result.text.failed |= got.failed;
    bs_buf_clear(&got);
}

/* Read up to the end of the stream. The memory that this needs does not depend on the length of the
 * stream. */
static void read_eof(struct bs_script_step *step) {
    static const char none[] = "";
    struct bs_buf got = BS_BUF_INIT;
    SHA2_CTX context;
    char hex[SHA256_DIGEST_STRING_LENGTH];
    uint64_t bytes = 0;
    int fd = open_stream(step);
    ssize_t n = fd >= 0 ? 1 : 0;
    int os_error = fd >= 0 || errno == EBADF ? 0 : errno;
    SHA256Init(&context);
    while (n > 0 && bs_buf_reserve(&got, CHUNK)) {
        n = (ssize_t)BS_RETRY(read(fd, got.data + got.len, CHUNK));
        os_error = n < 0 ? errno : 0;
        if (n <= 0)
            break;
        SHA256Update(&context, (const uint8_t *)got.data + got.len, (size_t)n);
        bytes += (uint64_t)n;
        got.len = bytes <= SHORT ? (size_t)bytes : 0;
    }
    bs_close(&fd);
    SHA256End(&context, hex);
    put_count(&step->result, "bytes", bytes);
    bs_json_put_key(&step->result, "sha256");
    bs_json_put_text(&step->result, hex);
    if (bytes <= SHORT) {
        bs_json_put_key(&step->result, "data_b64");
        bs_json_put_base64(&step->result, got.data != NULL ? got.data : none, got.len);
    }
    if (os_error != 0)
        put_errno(&step->result, os_error);
    step->result.text.failed |= got.failed;
    bs_buf_clear(&got);
}

static void put_code(struct bs_script_step *step, int code, const struct bs_error *err) {
    if (code != BS_OK)
        put_failure(step, code, err->message);
}

static void wait_for(struct bs_script_step *step, const uint64_t *ms) {
    struct bs_process_end end;
    struct bs_error err = BS_ERROR_INIT;
    int code = bs_process_wait(step->handle->process, ms, &end, &err);
    put_code(step, code, &err);
    if (code == BS_OK)
        bs_put_end(&step->result, &end);
}

static void close_it(struct bs_script_step *step) {
    struct bs_process_end end;
    struct bs_error err = BS_ERROR_INIT;
    bool detached = false;
    uint64_t grace = step->ms != NULL ? *step->ms : BS_PROCESS_GRACE_MS;
    int code = bs_process_close(step->handle->process, grace, &end, &detached, &err);
    put_code(step, code, &err);
    if (code != BS_OK)
        return;
    bs_put_end(&step->result, &end);
    put_flag(&step->result, "detached_writers", detached);
}

static void put_streams(struct bs_script_step *step) {
    static const char *const names[] = {"stdin", "stdout", "stderr"};
    for (int i = 0; i < 3; i++)
        put_flag(&step->result, names[i], bs_process_stream(step->handle->process, i) >= 0);
}

static void take_stream(struct bs_script_step *step) {
    int fd = bs_process_take(step->handle->process, step->stream);
    if (fd >= 0)
        step->handle->taken[step->stream] = fd;
    put_flag(&step->result, "taken", fd >= 0);
}

static void drop(struct bs_script_handle *handle) {
    bs_process_drop(atomic_exchange(&handle->process, NULL));
}

static void act(struct bs_script_step *step) {
    static const uint64_t at_once = 0;
    struct bs_script_handle *handle = step->handle;
    struct bs_error err = BS_ERROR_INIT;
    switch (step->kind) {
    case BS_STEP_STREAMS:
        put_streams(step);
        break;
    case BS_STEP_TAKE:
        take_stream(step);
        break;
    case BS_STEP_WRITE:
        write_all(step);
        break;
    case BS_STEP_READ_UNTIL:
        read_until(step);
        break;
    case BS_STEP_READ_EOF:
        read_eof(step);
        break;
    case BS_STEP_CLOSE_STDIN:
        bs_close(&handle->taken[0]);
        bs_process_close_stream(handle->process, 0);
        break;
    case BS_STEP_POLL:
        wait_for(step, &at_once);
        break;
    case BS_STEP_WAIT:
        wait_for(step, step->ms);
        break;
    case BS_STEP_TERMINATE:
        put_code(step, bs_process_terminate(handle->process, &err), &err);
        break;
    case BS_STEP_KILL:
        put_code(step, bs_process_kill(handle->process, &err), &err);
        break;
    case BS_STEP_CLOSE:
        close_it(step);
        break;
    case BS_STEP_DROP:
        drop(handle);
        break;
    default:
        break;
    }
}

/* Run the inner steps several times, and keep the results of the last round. A step that fails ends
 * the repeat. */
static void repeat(struct bs_script_step *step) {
    uint64_t rounds = 0;
    bool failed = false;
    for (; rounds < step->count && !failed; rounds++) {
        for (size_t i = 0; i < step->n_inner; i++)
            bs_json_writer_clear(&step->inner[i].result);
        for (size_t i = 0; i < step->n_inner && !failed; i++) {
            bs_script_step_run(&step->inner[i]);
            failed = step->inner[i].failed;
        }
    }
    put_count(&step->result, "repeated", failed ? rounds - 1 : rounds);
    bs_json_put_key(&step->result, "last");
    bs_json_open_array(&step->result);
    for (size_t i = 0; i < step->n_inner && step->inner[i].result.text.len > 0; i++)
        bs_json_put_written(&step->result, &step->inner[i].result);
    bs_json_close_array(&step->result);
}

void bs_script_step_run(struct bs_script_step *step) {
    bs_json_open_object(&step->result);
    if (step->kind == BS_STEP_REPEAT)
        repeat(step);
    else if (step->kind == BS_STEP_OPEN)
        open_it(step);
    else if (step->handle == NULL || step->handle->process == NULL)
        put_failure(step, BS_E_INVALID, "the handle is not open");
    else
        act(step);
    bs_json_close_object(&step->result);
}
