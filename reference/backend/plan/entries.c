#include "backend/plan/entries.h"

#include "backend/plan/plan.h"

#include <stdio.h>
#include <string.h>

void bs_plan_add(struct bs_buf *out, const char *key, const char *value) {
    bs_buf_str(out, key);
    bs_buf_char(out, '=');
    bs_buf_add(out, value, strlen(value) + 1);
}

void bs_plan_arg(struct bs_buf *out, const char *word) { bs_plan_add(out, BS_PLAN_ARG, word); }

void bs_plan_rights(struct bs_buf *out, const char *key, uint64_t rights) {
    char text[32];
    (void)snprintf(text, sizeof text, "%llx", (unsigned long long)rights);
    bs_plan_add(out, key, text);
}

void bs_plan_grant(struct bs_buf *out, uint64_t rights, const char *path) {
    char number[32];
    (void)snprintf(number, sizeof number, "=%llx ", (unsigned long long)rights);
    bs_buf_str(out, BS_PLAN_PATH);
    bs_buf_str(out, number);
    bs_buf_add(out, path, strlen(path) + 1);
}
