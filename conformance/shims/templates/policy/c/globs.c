/* Match a path by a glob. Your own function replaces this file. */
#include "shim.h"

#include <string.h>

/* rest[i] says whether the part of a glob that was read so far matches the path from its byte i to
   its end. The glob is read from its end, so that the cost is that of its length times the path's.
 */
static void before_letter(bool *rest, const char *path, char letter) {
    for (; *path; path++, rest++)
        *rest = *path == letter && rest[1];
    *rest = false;
}

/* `?` is one character, which may have several bytes. */
static void before_any_letter(bool *rest, const char *path) {
    for (; *path; path++, rest++) {
        size_t n = 1;
        while ((path[n] & 0xC0) == 0x80)
            n++;
        *rest = *path != '/' && (*path & 0xC0) != 0x80 && rest[n];
    }
    *rest = false;
}

/* `*` matches no slash, and `**` matches any text. */
static void before_star(bool *rest, const char *path, bool any) {
    for (size_t i = strlen(path); i-- > 0;)
        rest[i] = rest[i] || ((any || path[i] != '/') && rest[i + 1]);
}

/* `**` and a slash match zero or more directories. */
static void before_folders(bool *rest, const char *path) {
    bool later = false, next = rest[strlen(path)];
    for (size_t i = strlen(path); i-- > 0;) {
        later = later || (path[i] == '/' && next);
        next = rest[i];
        rest[i] = rest[i] || later;
    }
}

bool glob_matches(const char *glob, const char *path) {
    glob += strspn(glob, " \t");
    const char *end = glob + strlen(glob);
    while (end > glob && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    if (end - glob >= 2 && strncmp(glob, "./", 2) == 0)
        glob += 2;
    bool *rest = allocate(strlen(path) + 1);
    bool below = end - glob >= 3 && strncmp(end - 3, "/**", 3) == 0; /* P/ and ** also match P */
    for (size_t i = 0; below && path[i]; i++)
        rest[i] = path[i] == '/';
    rest[strlen(path)] = true;
    end -= below ? 3 : 0;
    while (end > glob) {
        bool slash = end[-1] == '/';
        const char *stars = end - slash, *from = stars;
        while (from > glob && from[-1] == '*')
            from--;
        bool first = from == glob || from[-1] == '/';
        if (stars - from >= 2 && slash && first) {
            before_folders(rest, path);
            end = from;
        } else if (!slash && from < stars) {
            before_star(rest, path, stars - from >= 2);
            end = from;
        } else if (*--end == '?') {
            before_any_letter(rest, path);
        } else {
            before_letter(rest, path, *end);
        }
    }
    return rest[0];
}
