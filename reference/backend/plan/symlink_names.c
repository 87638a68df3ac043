#define _GNU_SOURCE
#include "backend/plan/symlink_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

enum { MOST_LINKS_IN_A_NAME = 8 };

bool bs_inner_links_add(struct bs_inner_links *links, const char *path, const char *target,
                        bool replaceable) {
    struct bs_inner_link *list = bs_list_room(links->list, links->n, &links->cap, sizeof *list);
    if (list == NULL)
        return false;
    links->list = list;
    struct bs_inner_link *link = &list[links->n++];
    *link = (struct bs_inner_link){strdup(path), strdup(target), replaceable};
    return link->path != NULL && link->target != NULL;
}

static int by_target(const void *a, const void *b) {
    const struct bs_inner_link *x = a;
    const struct bs_inner_link *y = b;
    return strcmp(x->target, y->target);
}

void bs_inner_links_sort(struct bs_inner_links *links) {
    if (links->n > 0)
        qsort(links->list, links->n, sizeof *links->list, by_target);
}

void bs_inner_links_clear(struct bs_inner_links *links) {
    for (size_t i = 0; i < links->n; i++) {
        free(links->list[i].path);
        free(links->list[i].target);
    }
    free(links->list);
    *links = (struct bs_inner_links){NULL, 0, 0};
}

/* Compare a target with the first `len` bytes of a path. */
static int compare(const char *target, const char *path, size_t len) {
    int order = strncmp(target, path, len);
    return order != 0 ? order : (int)(target[len] != '\0');
}

/* Return the index of the first link to this target, or n if there is none. */
static size_t first_to(const struct bs_inner_links *links, const char *path, size_t len) {
    size_t low = 0;
    size_t high = links->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(links->list[middle].target, path, len) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < links->n && compare(links->list[low].target, path, len) == 0 ? low : links->n;
}

struct search {
    const struct bs_inner_links *links;
    void (*each)(void *ctx, const char *name, bool replaceable);
    void *ctx;
    size_t used[MOST_LINKS_IN_A_NAME]; /* indices of the links in the current name */
    size_t n_used;
    size_t n_names;
    int error;
};

static bool is_used(const struct search *search, size_t link) {
    for (size_t i = 0; i < search->n_used; i++) {
        if (search->used[i] == link)
            return true;
    }
    return false;
}

/* True if a name was left out because of the limit on their number. The search must not continue
 * then, because there may be as many links as files. */
static bool is_full(const struct search *search) {
    return search->error == EOVERFLOW && search->n_names == BS_MOST_LINKED_NAMES;
}

static void add_names(struct search *search, const char *path, bool replaceable);

/* Report one name. `rest` is the part of the path below the target of the link. */
static void add_name(struct search *search, size_t index, const char *rest, bool replaceable) {
    const struct bs_inner_link *link = &search->links->list[index];
    char *name = NULL;
    if (search->n_used == MOST_LINKS_IN_A_NAME || search->n_names == BS_MOST_LINKED_NAMES) {
        search->error = EOVERFLOW;
        return;
    }
    bool joins = link->path[0] != '\0' && rest[0] != '\0';
    if (asprintf(&name, "%s%s%s", link->path, joins ? "/" : "", rest) < 0) {
        search->error = ENOMEM;
        return;
    }
    search->used[search->n_used++] = index;
    search->n_names++;
    search->each(search->ctx, name, replaceable || link->replaceable);
    add_names(search, name, replaceable || link->replaceable);
    search->n_used--;
    free(name);
}

/* Look for links to the path itself and to each directory above it, from the root down. */
static void add_names(struct search *search, const char *path, /* NOLINT(misc-no-recursion) */
                      bool replaceable) {
    const struct bs_inner_links *links = search->links;
    size_t len = 0;
    for (;;) {
        const char *rest = path + len + (len > 0 && path[len] == '/');
        for (size_t i = first_to(links, path, len);
             i < links->n && compare(links->list[i].target, path, len) == 0; i++) {
            if (search->error == ENOMEM || is_full(search))
                return;
            if (!is_used(search, i))
                add_name(search, i, rest, replaceable);
        }
        if (path[len] == '\0')
            return;
        const char *slash = strchr(rest, '/');
        len = slash != NULL ? (size_t)(slash - path) : strlen(path);
    }
}

int bs_linked_names(const struct bs_inner_links *links, const char *path,
                    void (*each)(void *ctx, const char *name, bool replaceable), void *ctx) {
    struct search search = {.links = links, .each = each, .ctx = ctx};
    if (links->n > 0)
        add_names(&search, path, false);
    return search.error;
}
