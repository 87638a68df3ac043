#define _GNU_SOURCE
#include <boxspec/profile.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "policy/path/path.h"
#include "policy/path/walk.h"
#include "policy/profile/linked.h"

/* Bring an absolute path into a form without a trailing separator; `/` becomes "". A letter is put
 * before the path to make it relative. If the slash were removed instead, bs_path_normalize would
 * refuse some first names, such as `~`. */
static int normalize_absolute(const char *path, size_t len, struct bs_buf *out,
                              struct bs_error *err) {
    const char *normal = NULL;
    size_t normal_len = 0;
    bs_buf_char(out, 'x');
    bs_buf_add(out, path, len);
    if (!bs_buf_reserve(out, 1))
        return bs_fail(err, BS_E_EXECUTION, 0, "out of memory for a path of %zu bytes", len);
    int code = bs_path_normalize(out->data, out->len, out->data, &normal, &normal_len, err);
    if (code != BS_OK)
        return code;
    memmove(out->data, normal + 1, normal_len - 1);
    out->len = normal_len - 1;
    out->data[out->len] = '\0';
    return BS_OK;
}

/* Return the part of `path` below `root`, or NULL if it does not lie below. */
static const char *below(const struct bs_buf *root, const struct bs_buf *path, size_t *len) {
    if (path->len < root->len || memcmp(path->data, root->data, root->len) != 0)
        return NULL;
    if (path->len == root->len) {
        *len = 1;
        return ".";
    }
    *len = path->len - root->len - 1;
    return path->data[root->len] == '/' ? path->data + root->len + 1 : NULL;
}

static void deny_outside(struct bs_decision *decision) {
    decision->allowed = false;
    decision->matched_rule = BS_OUTSIDE_WORKSPACE;
    decision->matched_rule_len = strlen(BS_OUTSIDE_WORKSPACE);
}

static void deny_by(struct bs_decision *decision, const char *rule, size_t rule_len) {
    decision->allowed = false;
    decision->matched_rule = rule;
    decision->matched_rule_len = rule_len;
}

/* Decide about the place that the path leads to; the path as it is written was decided before. The
 * function frees the place or passes it on. */
static int check_place(const struct bs_profile *profile, int root_fd, enum bs_op op,
                       struct bs_place *place, struct bs_resolved *resolved, struct bs_error *err) {
    struct bs_decision *decision = &resolved->decision;
    if (!place->inside) {
        /* If the path as it is written is denied already, keep that decision. */
        if (decision->allowed)
            deny_outside(decision);
        bs_buf_clear(&place->path);
        return BS_OK;
    }
    struct bs_bytes real = bs_buf_take(&place->path);
    struct bs_decision there;
    struct bs_error why = BS_ERROR_INIT;
    int code = bs_profile_check(profile, op, real.data, real.len, &there, &why);
    if (code != BS_OK) {
        bs_bytes_clear(&real);
        return bs_fail(err, code, why.os_error,
                       "cannot find the real location of the path: %.1900s", why.message);
    }
    resolved->real = real.data;
    resolved->real_len = real.len;
    if (decision->allowed && !there.allowed) {
        deny_by(decision, there.matched_rule, there.matched_rule_len);
    } else if (decision->allowed) {
        const struct bs_path_view view = {.text = there.path, .len = there.path_len};
        const struct bs_outcome *outcome = NULL;
        code = bs_outcome_with_links(profile, root_fd, op, &view, &outcome, err);
        if (code == BS_OK && !outcome->allowed)
            deny_by(decision, outcome->rule, outcome->rule_len);
    }
    bs_decision_clear(&there);
    return code;
}

static int check_below(const struct bs_profile *profile, int root_fd, enum bs_op op,
                       const char *path, size_t len, enum bs_follow follow,
                       struct bs_resolved *resolved, struct bs_error *err) {
    struct bs_decision *decision = &resolved->decision;
    struct bs_place place = {false, BS_BUF_INIT};
    int code = bs_profile_check(profile, op, path, len, decision, err);
    if (code != BS_OK)
        return code;
    code = bs_walk(root_fd, decision->path, decision->path_len, follow, &place, err);
    if (code == BS_OK)
        code = check_place(profile, root_fd, op, &place, resolved, err);
    else
        bs_buf_clear(&place.path);
    if (code != BS_OK) {
        bs_decision_clear(decision);
        free(resolved->real);
        resolved->real = NULL;
    }
    return code;
}

/* Find the part of an absolute path below the root. The root is tried as it is given, and as its
 * real path. *inside is NULL if the path lies below neither. */
static int part_below(const char *root, const struct bs_buf *path, const char **inside,
                      size_t *inside_len, struct bs_error *err) {
    struct bs_buf normal = BS_BUF_INIT;
    struct bs_error ignored = BS_ERROR_INIT;
    *inside = NULL;
    /* If the given root has no normal form (because of a `..` for example), only its real path is
     * used. */
    int code = normalize_absolute(root, strlen(root), &normal, &ignored);
    if (code == BS_OK)
        *inside = below(&normal, path, inside_len);
    if (*inside == NULL && code != BS_E_EXECUTION) {
        char *real = realpath(root, NULL);
        normal.len = 0;
        code = real != NULL ? normalize_absolute(real, strlen(real), &normal, &ignored) : BS_OK;
        if (real != NULL && code == BS_OK)
            *inside = below(&normal, path, inside_len);
        free(real);
    }
    bs_buf_clear(&normal);
    return code == BS_E_EXECUTION ? bs_fail(err, code, 0, "out of memory for a path") : BS_OK;
}

static int check_absolute(const struct bs_profile *profile, const char *root, int root_fd,
                          enum bs_op op, const char *path, size_t len, enum bs_follow follow,
                          struct bs_resolved *resolved, struct bs_error *err) {
    struct bs_buf normal = BS_BUF_INIT;
    const char *inside = NULL;
    size_t inside_len = 0;
    int code = normalize_absolute(path, len, &normal, err);
    if (code == BS_OK && root != NULL)
        code = part_below(root, &normal, &inside, &inside_len, err);
    if (code == BS_OK && inside != NULL)
        code = check_below(profile, root_fd, op, inside, inside_len, follow, resolved, err);
    if (code != BS_OK || inside == NULL) {
        struct bs_bytes taken = bs_buf_take(&normal);
        if (code == BS_OK) {
            deny_outside(&resolved->decision);
            resolved->decision.path = taken.len > 0 ? taken.data : "/";
            resolved->decision.path_len = taken.len > 0 ? taken.len : 1;
            resolved->decision.owned = taken.data;
            return BS_OK;
        }
        bs_bytes_clear(&taken);
        return code;
    }
    /* keep this memory, because decision.path may point into it */
    resolved->owned = normal.data;
    return BS_OK;
}

static int check_at(const struct bs_profile *profile, const char *root, int root_fd, enum bs_op op,
                    const char *path, size_t len, enum bs_follow follow,
                    struct bs_resolved *resolved, struct bs_error *err) {
    resolved->real = NULL;
    resolved->real_len = 0;
    resolved->owned = NULL;
    return len > 0 && path[0] == '/'
               ? check_absolute(profile, root, root_fd, op, path, len, follow, resolved, err)
               : check_below(profile, root_fd, op, path, len, follow, resolved, err);
}

int bs_check_resolved_at(const struct bs_profile *profile, int root_fd, enum bs_op op,
                         const char *path, size_t len, enum bs_follow follow,
                         struct bs_resolved *resolved, struct bs_error *err) {
    return check_at(profile, NULL, root_fd, op, path, len, follow, resolved, err);
}

int bs_check_resolved(const struct bs_profile *profile, const char *root, enum bs_op op,
                      const char *path, size_t len, enum bs_follow follow,
                      struct bs_resolved *resolved, struct bs_error *err) {
    if (root[0] != '/')
        return bs_fail(err, BS_E_INVALID, 0, "the root must be an absolute path");
    int root_fd = bs_above_stdio((int)BS_RETRY(open(root, O_PATH | O_DIRECTORY | O_CLOEXEC)));
    if (root_fd < 0) {
        char buf[128];
        int os_error = errno;
        return bs_fail(err, BS_E_IO, os_error, "cannot open the root `%.900s`: %s", root,
                       bs_os_message(os_error, buf, sizeof buf));
    }
    int code = check_at(profile, root, root_fd, op, path, len, follow, resolved, err);
    bs_close(&root_fd);
    return code;
}

void bs_resolved_clear(struct bs_resolved *resolved) {
    bs_decision_clear(&resolved->decision);
    free(resolved->real);
    free(resolved->owned);
    resolved->real = NULL;
    resolved->owned = NULL;
}
