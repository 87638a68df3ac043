#include "backend/plan/aliases.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/list.h"

static int by_file(const void *a, const void *b) {
    const struct bs_alias *x = a;
    const struct bs_alias *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return x->inode == y->inode ? 0 : x->inode < y->inode ? -1 : 1;
}

/* True if the file has other names. Directories are excluded, because their link count only says
 * how many subdirectories they have. */
bool bs_has_other_names(const struct stat *st) { return !S_ISDIR(st->st_mode) && st->st_nlink > 1; }

bool bs_aliases_add(struct bs_aliases *aliases, const struct stat *st, int access) {
    struct bs_alias *list = bs_list_room(aliases->list, aliases->n, &aliases->cap, sizeof *list);
    if (list == NULL)
        return false;
    aliases->list = list;
    list[aliases->n++] = (struct bs_alias){st->st_dev, st->st_ino, access};
    return true;
}

void bs_aliases_sort(struct bs_aliases *aliases) {
    size_t n = 0;
    if (aliases->n > 0)
        qsort(aliases->list, aliases->n, sizeof *aliases->list, by_file);
    for (size_t i = 0; i < aliases->n; i++) {
        struct bs_alias *last = n > 0 ? &aliases->list[n - 1] : NULL;
        const struct bs_alias *next = &aliases->list[i];
        if (last == NULL || by_file(last, next) != 0)
            aliases->list[n++] = *next;
        else if (next->access > last->access)
            last->access = next->access;
    }
    aliases->n = n;
}

int bs_aliases_strictest(const struct bs_aliases *aliases, const struct stat *st, int access) {
    const struct bs_alias key = {st->st_dev, st->st_ino, access};
    const struct bs_alias *found = NULL;
    if (aliases->n > 0 && bs_has_other_names(st))
        found = bsearch(&key, aliases->list, aliases->n, sizeof key, by_file);
    return found != NULL && found->access > access ? found->access : access;
}

void bs_aliases_clear(struct bs_aliases *aliases) {
    free(aliases->list);
    *aliases = (struct bs_aliases)BS_ALIASES_INIT;
}
