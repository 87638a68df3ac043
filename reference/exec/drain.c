#define _GNU_SOURCE
#include "exec/drain.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/sys.h"
#include "base/utf8.h"
#include "exec/tee.h"

enum {
    PIPE_DEFAULT = 64 * 1024,
    PIPE_GROWN = 256 * 1024, /* reading reaches 5.5 GB/s instead of 1.9; see bench/exec */
    SMALL_READ = 16 * 1024
};

void bs_drain_init(struct bs_drain *drain, int fd, enum bs_stream stream, uint64_t most) {
    *drain = (struct bs_drain){.fd = fd, .stream = stream, .most = most, .kept = BS_BUF_INIT};
}

/* Enlarge the pipe. Only pipes that were found half full are enlarged, because all runs share the
 * user's budget of pipe memory. EPERM means that the budget is spent; then the pipe stays
 * slower. */
static void enlarge_pipe(struct bs_drain *drain) {
    drain->grown = true;
    (void)fcntl(drain->fd, F_SETPIPE_SZ, PIPE_GROWN);
}

static void hand_on(struct bs_drain *drain, const struct bs_receivers *receivers, const char *data,
                    size_t len) {
    if (receivers->tee != NULL)
        bs_tee_write(receivers->tee, drain->stream, data, len);
    if (receivers->request->on_output != NULL && len > 0)
        receivers->request->on_output(receivers->request->on_output_ctx, drain->stream, data, len);
}

static void at_end(struct bs_drain *drain, const struct bs_receivers *receivers) {
    bs_close(&drain->fd);
    if (receivers->tee != NULL)
        bs_tee_end(receivers->tee, drain->stream);
}

/* Close a stream that cannot be read. If it stayed open, every poll would return at once. */
static int fail(struct bs_drain *drain, int os_error) {
    bs_close(&drain->fd);
    return os_error;
}

int bs_drain_read(struct bs_drain *drain, const struct bs_receivers *receivers) {
    bool keep = receivers->request->on_output == NULL;
    char scratch[PIPE_DEFAULT];
    char *into = scratch;
    size_t room = sizeof scratch;
    uint64_t left = drain->most - drain->taken;
    /* Read directly into `kept`, which avoids a copy, if the bytes are kept and the cap is not near
     * (one byte beyond the cap must be read to notice the excess). The first reservation is small,
     * so that short outputs cost little memory. */
    if (keep && left > PIPE_GROWN) {
        size_t want = drain->kept.len == 0 ? SMALL_READ : drain->grown ? PIPE_GROWN : PIPE_DEFAULT;
        if (!bs_buf_reserve(&drain->kept, want))
            return fail(drain, ENOMEM);
        into = drain->kept.data + drain->kept.len;
        room = drain->kept.cap - drain->kept.len - 1;
        if (room > PIPE_GROWN)
            room = PIPE_GROWN;
    }
    ssize_t got = (ssize_t)BS_RETRY(read(drain->fd, into, room));
    if (got < 0)
        return errno == EAGAIN ? 0 : fail(drain, errno);
    if (got == 0) {
        at_end(drain, receivers);
        return 0;
    }
    size_t len = (size_t)got;
    if (len >= PIPE_DEFAULT / 2 && !drain->grown)
        enlarge_pipe(drain);
    if (len > left) {
        drain->over = true;
        len = (size_t)left;
    }
    drain->taken += len;
    if (into != scratch)
        drain->kept.len += len;
    else if (keep)
        bs_buf_add(&drain->kept, scratch, len);
    hand_on(drain, receivers, into, len);
    return drain->kept.failed ? fail(drain, ENOMEM) : 0;
}

int bs_drain_rest(struct bs_drain *drain, const struct bs_receivers *receivers) {
    enum { LARGEST_PIPE = 1024 * 1024 };
    size_t seen = 0;
    while (drain->fd >= 0 && seen < LARGEST_PIPE) {
        uint64_t before = drain->taken;
        int os_error = bs_drain_read(drain, receivers);
        if (os_error != 0)
            return os_error;
        if (drain->taken == before)
            break; /* no byte is available now, or the stream has ended or exceeded the cap */
        seen += (size_t)(drain->taken - before);
    }
    return 0;
}

void bs_drain_finish(struct bs_drain *drain) {
    if (drain->over)
        drain->kept.len -= bs_utf8_incomplete_tail(drain->kept.data, drain->kept.len);
}

void bs_drain_clear(struct bs_drain *drain) {
    bs_close(&drain->fd);
    bs_buf_clear(&drain->kept);
}
