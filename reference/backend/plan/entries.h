/* Writes the entries of a plan, which plan.h describes. If memory runs out, out->failed is set. */
#ifndef BS_BACKEND_PLAN_ENTRIES_H
#define BS_BACKEND_PLAN_ENTRIES_H

#include <stdint.h>

#include "base/buf.h"

void bs_plan_add(struct bs_buf *out, const char *key, const char *value);
void bs_plan_arg(struct bs_buf *out, const char *word);
void bs_plan_rights(struct bs_buf *out, const char *key, uint64_t rights);
void bs_plan_grant(struct bs_buf *out, uint64_t rights, const char *path);

#endif
