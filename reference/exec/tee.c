#define _GNU_SOURCE
#include "exec/tee.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys.h"

enum { MOST_PENDING = 64 * 1024 };

/* Find a way to write to descriptor 2 without blocking. Setting O_NONBLOCK on the descriptor would
 * change it for every process that shares it. So a pipe or a terminal is opened a second time,
 * which gives it flags of its own. A socket takes MSG_DONTWAIT, and a file never blocks. If the
 * pipe or terminal cannot be reopened, each write is limited to the size that poll promises. */
static void choose_descriptor(struct bs_tee *tee) {
    struct stat st;
    tee->fd = -1;
    if (fstat(2, &st) != 0)
        return;
    tee->fd = 2;
    tee->is_socket = S_ISSOCK(st.st_mode);
    tee->is_file = S_ISREG(st.st_mode);
    if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))
        return;
    int fd = bs_above_stdio(
        (int)BS_RETRY(open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)));
    if (fd >= 0) {
        tee->fd = fd;
        tee->owned = true;
    }
}

int bs_tee_init(struct bs_tee *tee, const struct bs_env_pair *env, size_t n_env) {
    memset(tee, 0, sizeof *tee);
    int os_error = bs_secrets_collect(&tee->secrets, env, n_env);
    if (os_error != 0)
        return os_error;
    for (int i = 0; i < 2; i++)
        tee->streams[i] = (struct bs_redactor)BS_REDACTOR_INIT(&tee->secrets);
    choose_descriptor(tee);
    return 0;
}

static void note_dropped(struct bs_tee *tee, struct bs_buf *text) {
    bs_buf_str(text, "\n[boxspec: ");
    bs_buf_u64(text, tee->dropped);
    bs_buf_str(text, " bytes not shown: the reader was too slow]\n");
    tee->dropped = 0;
}

static void queue(struct bs_tee *tee, const struct bs_buf *text) {
    if (tee->fd < 0 || text->len == 0)
        return;
    if (tee->pending.len + text->len > MOST_PENDING) {
        tee->dropped += text->len;
        return;
    }
    if (tee->dropped > 0)
        note_dropped(tee, &tee->pending);
    bs_buf_add(&tee->pending, text->data, text->len);
}

static void copy_to_queue(struct bs_tee *tee, enum bs_stream stream, const char *data, size_t len,
                          bool end) {
    /* Add pieces that fit the queue and flush after each piece, because one large read would
     * overflow the queue at once. */
    do {
        size_t piece = len < MOST_PENDING / 4 ? len : MOST_PENDING / 4;
        struct bs_buf text = BS_BUF_INIT;
        bs_redact(&tee->streams[stream == BS_STDERR], data, piece, end && piece == len, &text);
        queue(tee, &text);
        bs_buf_clear(&text);
        bs_tee_flush(tee);
        if (piece > 0)
            data += piece;
        len -= piece;
    } while (len > 0);
}

void bs_tee_write(struct bs_tee *tee, enum bs_stream stream, const char *data, size_t len) {
    if (tee->fd >= 0)
        copy_to_queue(tee, stream, data, len, false);
}

void bs_tee_end(struct bs_tee *tee, enum bs_stream stream) {
    if (tee->fd >= 0)
        copy_to_queue(tee, stream, "", 0, true);
}

int bs_tee_fd(const struct bs_tee *tee) { return tee->pending.len > 0 ? tee->fd : -1; }

/* Return 0 if descriptor 2 is writable, else EAGAIN or EPIPE. A full pipe without readers never
 * becomes writable, and its POLLERR would end every poll at once, so it counts as EPIPE. */
static int check_writable(int fd) {
    struct pollfd entry = {.fd = fd, .events = POLLOUT};
    if (BS_RETRY(poll(&entry, 1, 0)) != 1)
        return EAGAIN;
    return (entry.revents & POLLOUT) != 0 ? 0 : EPIPE;
}

static ssize_t write_some(const struct bs_tee *tee, const char *data, size_t len) {
    if (tee->is_socket)
        return (ssize_t)BS_RETRY(send(tee->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL));
    if (tee->owned || tee->is_file)
        return (ssize_t)BS_RETRY(write(tee->fd, data, len));
    errno = check_writable(tee->fd);
    if (errno != 0)
        return -1;
    return (ssize_t)BS_RETRY(write(tee->fd, data, len < PIPE_BUF ? len : PIPE_BUF));
}

void bs_tee_flush(struct bs_tee *tee) {
    size_t done = 0;
    while (tee->fd >= 0 && done < tee->pending.len) {
        ssize_t n = write_some(tee, tee->pending.data + done, tee->pending.len - done);
        if (n > 0) {
            done += (size_t)n;
            continue;
        }
        if (n < 0 && errno != EAGAIN) {
            /* The reader has gone: the run continues without a copy. */
            if (tee->owned)
                bs_close(&tee->fd);
            tee->fd = -1;
            tee->pending.len = 0;
            return;
        }
        break;
    }
    tee->pending.len -= done;
    if (done > 0 && tee->pending.len > 0)
        memmove(tee->pending.data, tee->pending.data + done, tee->pending.len);
}

void bs_tee_finish(struct bs_tee *tee) {
    uint64_t until = bs_after_ms(bs_now_ns(), BS_EXEC_TEE_MS);
    for (int i = 0; i < 2; i++)
        bs_tee_end(tee, i == 0 ? BS_STDOUT : BS_STDERR);
    if (tee->fd >= 0 && tee->dropped > 0)
        note_dropped(tee, &tee->pending);
    bs_tee_flush(tee);
    while (bs_tee_fd(tee) >= 0) {
        uint64_t now = bs_now_ns();
        struct pollfd entry = {.fd = tee->fd, .events = POLLOUT};
        if (now >= until || BS_RETRY(poll(&entry, 1, bs_poll_timeout(now, until))) <= 0)
            break;
        bs_tee_flush(tee);
    }
    if (tee->owned)
        bs_close(&tee->fd);
    for (int i = 0; i < 2; i++)
        bs_redactor_clear(&tee->streams[i]);
    bs_secrets_clear(&tee->secrets);
    bs_buf_clear(&tee->pending);
}
