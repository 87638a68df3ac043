#define _GNU_SOURCE
#include "sbpl/place.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "sbpl/spell.h"

enum { SHOWN = 400 }; /* longest part of a path that a message shows */

static int refuse(const char *field, const char *given, const char *why, struct bs_error *err) {
    char shown[SHOWN];
    return bs_fail(err, BS_E_INVALID, 0, "%s: `%s` %s", field,
                   bs_spell_for_people(given, strlen(given), shown, sizeof shown), why);
}

/* Remove needless slashes of a path in place. Returns false if a segment is `.` or `..`. */
static bool clean(struct bs_bytes *place) {
    char *text = place->data;
    size_t to = 0;
    for (size_t from = 0; from < place->len;) {
        size_t size = strcspn(text + from, "/");
        if ((size == 1 && text[from] == '.') || (size == 2 && memcmp(text + from, "..", 2) == 0))
            return false;
        if (size > 0) {
            text[to++] = '/';
            memmove(text + to, text + from, size);
            to += size;
        }
        from += size + 1;
    }
    if (to == 0)
        text[to++] = '/';
    text[to] = '\0';
    place->len = to;
    return true;
}

bool bs_place_holds(const struct bs_bytes *a, const struct bs_bytes *b) {
    if (a->len == 1)
        return true;
    return b->len >= a->len && memcmp(a->data, b->data, a->len) == 0 &&
           (b->len == a->len || b->data[a->len] == '/');
}

/* Return the link above the path that every Mac has, or NULL. The kernel compares paths without
 * links. So a rule about a path through such a link never matches, and a deny would protect no
 * file. */
static const char *link_above(const struct bs_bytes *place) {
    static const char *const links[] = {"/tmp", "/var", "/etc"};
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        struct bs_bytes link = {(char *)(uintptr_t)links[i], strlen(links[i])};
        if (bs_place_holds(&link, place))
            return links[i];
    }
    return NULL;
}

static int judge(const char *field, const char *given, struct bs_bytes *place,
                 struct bs_error *err) {
    if (bs_utf8_valid_prefix(given, place->len) < place->len)
        return refuse(field, given, "is not UTF-8; give the folder a name that is", err);
    if ((bs_spell_look(given, place->len) & BS_HAS_CONTROL) != 0)
        return refuse(field, given, "holds a control character; give the folder another name", err);
    if (given[0] == '~')
        return refuse(field, given,
                      "begins with `~`, which is not expanded here; write the whole path", err);
    if (given[0] != '/')
        return refuse(field, given, "is not absolute; give the path from `/` on", err);
    if (!clean(place))
        return refuse(field, given, "has a `.` or `..` segment; give the path as it is resolved",
                      err);
    if (link_above(place) == NULL)
        return BS_OK;
    char shown[SHOWN];
    (void)bs_spell_for_people(place->data, place->len, shown, sizeof shown);
    return bs_fail(err, BS_E_INVALID, 0,
                   "%s: `%s` lies below the link %s, which the kernel does not report; give "
                   "`/private%s`",
                   field, shown, link_above(place), shown);
}

int bs_place_make(const char *field, const char *given, struct bs_bytes *place,
                  struct bs_error *err) {
    size_t len = strlen(given);
    struct bs_bytes made = {malloc(len + 1), len};
    if (made.data == NULL)
        return bs_fail(err, BS_E_EXECUTION, 0, "%s: out of memory for a path of %zu bytes", field,
                       len);
    memcpy(made.data, given, len + 1);
    int code = judge(field, given, &made, err);
    if (code != BS_OK) {
        bs_bytes_clear(&made);
        return code;
    }
    *place = made;
    return BS_OK;
}
