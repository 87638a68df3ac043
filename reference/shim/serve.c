#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/sys.h"
#include "shim/doors.h"
#include "shim/ops.h"
#include "shim/policies.h"

static bool write_all(int fd, const char *data, size_t len) {
    while (len > 0) {
        ssize_t n = (ssize_t)BS_RETRY(write(fd, data, len));
        if (n < 0)
            return false;
        data += n;
        len -= (size_t)n;
    }
    return true;
}

/* What lives as long as the conversation. */
struct session {
    struct bs_buf in;
    struct bs_buf out; /* kept from answer to answer: growing it costs more than filling it */
    struct bs_policies policies;
};

static bool answer_line(struct session *session, const char *line, size_t len, bool *bye) {
    enum { KEPT = 4 * 1024 * 1024 };
    struct bs_buf *out = &session->out;
    out->len = 0;
    struct bs_done done = bs_dispatch(line, len, BS_DOOR_SERVE, &session->policies, out);
    *bye = done.bye;
    bs_sbpl_file_remove(&done.file);
    bool good = !out->failed && write_all(1, out->data, out->len);
    if (out->cap > KEPT)
        bs_buf_clear(out);
    return good;
}

/* Answers every whole line in the buffer and keeps the rest. False: leave. */
static bool answer_lines(struct session *session, size_t *scanned, bool *bye) {
    struct bs_buf *in = &session->in;
    size_t start = 0;
    for (;;) {
        char *end =
            in->len > *scanned ? memchr(in->data + *scanned, '\n', in->len - *scanned) : NULL;
        if (end == NULL)
            break;
        size_t line_end = (size_t)(end - in->data);
        bool good =
            line_end == start || answer_line(session, in->data + start, line_end - start, bye);
        start = line_end + 1;
        *scanned = start;
        if (!good || *bye)
            return false;
    }
    in->len -= start;
    if (start > 0 && in->len > 0)
        memmove(in->data, in->data + start, in->len);
    *scanned = in->len;
    return true;
}

int bs_shim_serve(void) {
    enum { CHUNK = 64 * 1024 };
    struct session session = {.in = BS_BUF_INIT, .out = BS_BUF_INIT};
    struct bs_buf *in = &session.in;
    size_t scanned = 0;
    bool bye = false;
    int status = 0;
    for (;;) {
        if (!bs_buf_reserve(in, CHUNK) || in->len > BS_SHIM_MOST_LINE) {
            (void)fprintf(stderr, "boxspec-ref: a line of more than %lu bytes; send shorter ones\n",
                          BS_SHIM_MOST_LINE);
            status = 2;
            break;
        }
        ssize_t n = (ssize_t)BS_RETRY(read(0, in->data + in->len, CHUNK));
        if (n <= 0) {
            if (n < 0)
                status = 2;
            break;
        }
        in->len += (size_t)n;
        if (!answer_lines(&session, &scanned, &bye)) {
            status = bye ? 0 : 2;
            break;
        }
    }
    bs_buf_clear(&session.in);
    bs_buf_clear(&session.out);
    bs_policies_clear(&session.policies);
    return status;
}
