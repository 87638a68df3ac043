#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sys.h"
#include "shim/modes.h"
#include "shim/ops.h"
#include "shim/policies.h"

/* Print a message and return 2, the exit status. */
static int complain(const char *what, int os_error) {
    char buf[128];
    (void)fprintf(stderr, "boxspec-ref: serve: %s: %s\n", what,
                  bs_os_message(os_error, buf, sizeof buf));
    return 2;
}

/* Return 0 or an errno. */
static int write_all(int fd, const char *data, size_t len) {
    while (len > 0) {
        ssize_t n = (ssize_t)BS_RETRY(write(fd, data, len));
        if (n < 0)
            return errno;
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

/* Data that is kept from one request to the next. */
struct session {
    struct bs_buf in;
    /* reused for each answer, because growing a buffer takes longer than filling it */
    struct bs_json_writer out;
    struct bs_policies policies;
};

/* Answer one line. Returns 0, or the exit status if serving ends. */
static int answer_line(struct session *session, const char *line, size_t len, bool *bye) {
    enum { KEPT = 4 * 1024 * 1024 };
    struct bs_json_writer *out = &session->out;
    bs_json_writer_reset(out);
    struct bs_done done = bs_dispatch(line, len, BS_MODE_SERVE, &session->policies, out);
    *bye = done.bye;
    bs_sbpl_file_remove(&done.file);
    int os_error = out->text.failed ? ENOMEM : write_all(1, out->text.data, out->text.len);
    if (out->text.cap > KEPT)
        bs_json_writer_clear(out);
    return os_error != 0 ? complain("cannot write an answer", os_error) : 0;
}

/* Answer each complete line in the buffer, and keep the rest. Returns 0, or the exit status if
 * serving ends. */
static int answer_lines(struct session *session, size_t *scanned, bool *bye) {
    struct bs_buf *in = &session->in;
    size_t start = 0;
    for (;;) {
        char *end =
            in->len > *scanned ? memchr(in->data + *scanned, '\n', in->len - *scanned) : NULL;
        if (end == NULL)
            break;
        size_t line_end = (size_t)(end - in->data);
        int status =
            line_end == start ? 0 : answer_line(session, in->data + start, line_end - start, bye);
        start = line_end + 1;
        *scanned = start;
        if (status != 0 || *bye)
            return status;
    }
    in->len -= start;
    if (start > 0 && in->len > 0)
        memmove(in->data, in->data + start, in->len);
    *scanned = in->len;
    return 0;
}

/* Read once. *n is 0 at end-of-file. Returns 0, or the exit status after an error. */
static int read_some(struct bs_buf *in, size_t *n) {
    enum { CHUNK = 64 * 1024 };
    *n = 0;
    if (in->len > BS_SHIM_MOST_LINE) {
        (void)fprintf(stderr, "boxspec-ref: a line of more than %lu bytes; send shorter ones\n",
                      BS_SHIM_MOST_LINE);
        return 2;
    }
    if (!bs_buf_reserve(in, CHUNK))
        return complain("cannot read a request", ENOMEM);
    ssize_t got = (ssize_t)BS_RETRY(read(0, in->data + in->len, CHUNK));
    if (got < 0)
        return complain("cannot read a request", errno);
    in->len += (size_t)got;
    *n = (size_t)got;
    return 0;
}

int bs_shim_serve(void) {
    struct session session = {.in = BS_BUF_INIT, .out = BS_JSON_WRITER_INIT};
    size_t scanned = 0;
    size_t n = 0;
    bool bye = false;
    int status = 0;
    do {
        status = read_some(&session.in, &n);
        if (status == 0)
            status = answer_lines(&session, &scanned, &bye);
    } while (status == 0 && n > 0 && !bye);
    bs_buf_clear(&session.in);
    bs_json_writer_clear(&session.out);
    bs_policies_clear(&session.policies);
    return status;
}
