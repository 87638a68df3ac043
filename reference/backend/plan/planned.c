#include "backend/plan/planned.h"

#include <stdlib.h>
#include <string.h>

#include "backend/plan/plan.h"
#include "backend/session/context.h"
#include "base/list.h"

/* Return the next word of bubblewrap's command line, or NULL at the end of the plan. *at becomes
 * the position after it. */
static const char *next_word(const struct bs_buf *plan, size_t *at) {
    static const char key[] = BS_PLAN_ARG "=";
    while (*at < plan->len) {
        const char *entry = plan->data + *at;
        *at += strlen(entry) + 1;
        if (strncmp(entry, key, sizeof key - 1) == 0)
            return entry + sizeof key - 1;
    }
    return NULL;
}

static bool add(struct bs_planned *planned, const char *at, enum bs_access access) {
    struct bs_planned_mount *list =
        bs_list_room(planned->list, planned->n, &planned->cap, sizeof *list);
    if (list == NULL)
        return false;
    planned->list = list;
    list[planned->n++] = (struct bs_planned_mount){at, access};
    return true;
}

bool bs_planned_read(const struct bs_buf *plan, const char *dir, struct bs_planned *planned) {
    const char *word = NULL;
    size_t at = 0;
    bool good = true;
    while (good && (word = next_word(plan, &at)) != NULL) {
        bool binds = strcmp(word, "--bind") == 0;
        if (binds || strcmp(word, "--ro-bind") == 0) {
            const char *from = next_word(plan, &at);
            const char *to = next_word(plan, &at);
            bool hides = from != NULL && bs_is_below(from, dir);
            if (to != NULL)
                good = add(planned, to, binds ? BS_OPEN : hides ? BS_HIDDEN : BS_READ_ONLY);
        } else if (strcmp(word, "--tmpfs") == 0) {
            const char *to = next_word(plan, &at);
            if (to != NULL)
                good = add(planned, to, BS_HIDDEN);
        }
    }
    return good;
}

void bs_planned_clear(struct bs_planned *planned) {
    free(planned->list);
    *planned = (struct bs_planned){NULL, 0, 0};
}

enum bs_access bs_planned_access(const struct bs_planned *planned, const char *path) {
    /* a later mount covers the earlier ones */
    for (size_t i = planned->n; i-- > 0;) {
        if (bs_is_below(path, planned->list[i].at))
            return planned->list[i].access;
    }
    return BS_OPEN;
}
