#define _GNU_SOURCE
#include "backend/session/links.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINKS = 40 }; /* as path_resolution(7) */

/* Set *end_of_link to the length of the shortest prefix of `path` that is a symbolic link, or to 0.
 * Returns false if the path is too long to be examined. */
static bool find_first_link(const char *path, size_t *end_of_link) {
    char prefix[PATH_MAX];
    struct stat st;
    size_t len = strlen(path);
    *end_of_link = 0;
    if (len >= sizeof prefix)
        return false;
    for (size_t end = 1; end <= len; end++) {
        if (end < len && path[end] != '/')
            continue;
        memcpy(prefix, path, end);
        prefix[end] = '\0';
        if (lstat(prefix, &st) == 0 && S_ISLNK(st.st_mode)) {
            *end_of_link = end;
            break;
        }
    }
    return true;
}

/* Return the real path of a link without following the link itself. The result comes from malloc,
 * or is NULL. */
static char *place_of(const char *link) {
    const char *slash = strrchr(link, '/');
    char *place = NULL;
    char *parent = strndup(link, slash == link ? 1 : (size_t)(slash - link));
    char *real = parent != NULL ? realpath(parent, NULL) : NULL;
    if (real != NULL && asprintf(&place, "%s%s", strcmp(real, "/") == 0 ? "" : real, slash) < 0)
        place = NULL;
    free(real);
    free(parent);
    return place;
}

/* Return the path after the link at `place` has been followed once: the text of the link, then
 * `rest`. The result comes from malloc, or is NULL. */
static char *followed(const char *place, const char *rest) {
    char text[PATH_MAX];
    char *path = NULL;
    ssize_t len = readlink(place, text, sizeof text);
    if (len <= 0 || (size_t)len == sizeof text)
        return NULL;
    int parent = text[0] == '/' ? 0 : (int)(strrchr(place, '/') + 1 - place);
    return asprintf(&path, "%.*s%.*s%s", parent, place, (int)len, text, rest) >= 0 ? path : NULL;
}

bool bs_link_may_be_replaced(const char *path, bs_may_replace *may_replace, const void *data) {
    char *at = strdup(path);
    size_t end = 0;
    bool found = at == NULL || !find_first_link(at, &end);
    for (int links = 0; !found && end > 0; links++) {
        char *rest = strdup(at + end);
        at[end] = '\0';
        char *place = place_of(at);
        found = links == MOST_LINKS || place == NULL || rest == NULL || may_replace(place, data);
        free(at);
        at = found ? NULL : followed(place, rest);
        free(place);
        free(rest);
        found = at == NULL || !find_first_link(at, &end);
    }
    free(at);
    return found;
}
