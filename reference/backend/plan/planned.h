/* Reads the mounts of a plan, to find out which access they give to a path. */
#ifndef BS_BACKEND_PLAN_PLANNED_H
#define BS_BACKEND_PLAN_PLANNED_H

#include <stdbool.h>
#include <stddef.h>

#include "backend/plan/access.h"
#include "base/buf.h"

/* A mount, and the access that it gives to all paths at and below `at`. */
struct bs_planned_mount {
    const char *at; /* points into the plan */
    enum bs_access access;
};

struct bs_planned {
    struct bs_planned_mount *list; /* in the order in which they are made */
    size_t n;
    size_t cap;
};

/* Read the mounts of a plan that is complete; `dir` has the files that are mounted over hidden
 * paths. Returns false if memory ran out. Clear *planned in both cases, before the plan. */
bool bs_planned_read(const struct bs_buf *plan, const char *dir, struct bs_planned *planned);
void bs_planned_clear(struct bs_planned *planned);

/* Return the access to a path without links. */
enum bs_access bs_planned_access(const struct bs_planned *planned, const char *path);

#endif
