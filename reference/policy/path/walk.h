/* Finds the place that the kernel would reach, by walking along a path, component by component,
 * below an open root. */
#ifndef BS_POLICY_PATH_WALK_H
#define BS_POLICY_PATH_WALK_H

#include <boxspec/profile.h>

#include "base/buf.h"

struct bs_place {
    bool inside;
    struct bs_buf path; /* relative to the root, in normal form; `.` is the root */
};

/* Walk along `path`, which is relative and in normal form. Returns 0 with *place filled, BS_E_IO or
 * BS_E_EXECUTION. The caller clears place->path in every case. */
int bs_walk(int root_fd, const char *path, size_t len, enum bs_follow follow,
            struct bs_place *place, struct bs_error *err);

#endif
