#define _GNU_SOURCE
#include "base/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "backend/launch/launch.h"
#include "base/sys.h"

bool close_from(int first, bool on_exec) {
    errno = bs_close_from(first, on_exec);
    return errno == 0;
}

bool move_above_fixed(int ends[2]) {
    for (int i = 0; i < 2; i++) {
        int moved = fcntl(ends[i], F_DUPFD_CLOEXEC, FIRST_FREE_FD);
        if (moved < 0)
            return false;
        bs_close(&ends[i]);
        ends[i] = moved;
    }
    return true;
}

bool replace_stdio(bool err) {
    int null = (int)BS_RETRY(open("/dev/null", O_RDWR | O_CLOEXEC));
    bool good =
        null >= 0 && dup2(null, 0) == 0 && dup2(null, 1) == 1 && (!err || dup2(null, 2) == 2);
    if (null > 2)
        (void)close(null);
    return good;
}
