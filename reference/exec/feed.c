#define _GNU_SOURCE
#include "exec/feed.h"

#include <errno.h>
#include <unistd.h>

#include "base/sys.h"

void bs_feed_init(struct bs_feed *feed, int fd, const void *data, size_t len) {
    *feed = (struct bs_feed){fd, data, len, 0};
}

void bs_feed_write(struct bs_feed *feed) {
    while (feed->fd >= 0 && feed->left > 0) {
        ssize_t n = (ssize_t)BS_RETRY(write(feed->fd, feed->data, feed->left));
        if (n < 0) {
            if (errno == EAGAIN)
                return;
            feed->os_error = errno;
            bs_close(&feed->fd);
            return;
        }
        feed->data += n;
        feed->left -= (size_t)n;
    }
    bs_close(&feed->fd);
}

void bs_feed_abandon(struct bs_feed *feed) {
    if (feed->left > 0 && feed->os_error == 0)
        feed->os_error = EPIPE;
    bs_close(&feed->fd);
}

bool bs_feed_failed(const struct bs_feed *feed) { return feed->os_error != 0; }
