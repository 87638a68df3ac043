/* A workspace with a profile, for checks that follow links. */
#ifndef BS_TESTS_POLICY_WORKSPACE_H
#define BS_TESTS_POLICY_WORKSPACE_H

#include <boxspec/profile.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/harness.h"
#include "support/holdings.h"
#include "support/profiles.h"

/* A root, and a directory outside of the root, next to it. */
struct place {
    struct folder *folder;
    char root[128];
    struct bs_profile *profile; /* a profile that allows everything except `secret` */
    struct holdings before;
};

static inline int set_up(void **state) {
    struct place *place = calloc(1, sizeof *place);
    if (place == NULL || folder_setup((void **)&place->folder) != 0)
        return -1;
    (void)snprintf(place->root, sizeof place->root, "%s/root", place->folder->path);
    static const char *const folders[] = {"root", "root/docs", "root/docs/deep", "root/secret",
                                          "outside"};
    for (size_t i = 0; i < LENGTH(folders); i++)
        folder_add_folder(place->folder, folders[i]);
    folder_add_file(place->folder, "root/docs/page", "", 0600);
    folder_add_file(place->folder, "root/secret/key", "", 0600);
    place->profile = profile_of("'denyRead':['secret/**']", NULL, NULL, 0);
    place->before = holdings_now();
    *state = place;
    return 0;
}

static inline int tear_down(void **state) {
    struct place *place = *state;
    struct holdings now = holdings_now();
    int left = now.descriptors != place->before.descriptors;
    bs_profile_free(place->profile);
    int rc = folder_teardown((void **)&place->folder);
    free(place);
    return left ? -1 : rc;
}

static inline void add_link(const struct place *place, const char *name, const char *target) {
    char path[256];
    (void)snprintf(path, sizeof path, "root/%s", name);
    assert_int_equal(symlinkat(target, place->folder->fd, path), 0);
}

struct answer {
    int code;
    bool allowed;
    char rule[256];
    char real[256]; /* "outside" if the path does not lead into the root */
    char path[256];
    struct bs_error err;
};

static inline struct answer answered(int code, struct bs_resolved *resolved,
                                     const struct bs_error *err) {
    struct answer answer = {.code = code, .err = *err};
    if (code != BS_OK)
        return answer;
    answer.allowed = resolved->decision.allowed;
    (void)snprintf(answer.rule, sizeof answer.rule, "%s", resolved->decision.matched_rule);
    (void)snprintf(answer.real, sizeof answer.real, "%s",
                   resolved->real != NULL ? resolved->real : "outside");
    (void)snprintf(answer.path, sizeof answer.path, "%.*s", (int)resolved->decision.path_len,
                   resolved->decision.path);
    if (resolved->real != NULL)
        assert_int_equal(strlen(resolved->real), resolved->real_len);
    bs_resolved_clear(resolved);
    bs_resolved_clear(resolved);
    return answer;
}

static inline struct answer check_path_as(const struct place *place, const char *root,
                                          const char *path, enum bs_follow follow) {
    struct bs_resolved resolved;
    struct bs_error err = BS_ERROR_INIT;
    int code = bs_check_resolved(place->profile, root, BS_OP_READ, path, strlen(path), follow,
                                 &resolved, &err);
    return answered(code, &resolved, &err);
}

static inline struct answer check_path(const struct place *place, const char *path) {
    return check_path_as(place, place->root, path, BS_FOLLOW_FINAL);
}

static inline void assert_lies_at(const struct place *place, const char *path, const char *real) {
    struct answer answer = check_path(place, path);
    if (answer.code != BS_OK)
        fail_msg("%s: %s", path, answer.err.message);
    if (strcmp(answer.real, real) != 0)
        fail_msg("%s lies at %s, not at %s", path, answer.real, real);
    bool inside = strcmp(real, "outside") != 0;
    bool secret = strncmp(real, "secret", 6) == 0;
    assert_int_equal(answer.allowed, inside && !secret);
    assert_string_equal(answer.rule, !inside ? BS_OUTSIDE_WORKSPACE : secret ? "secret/**" : "**");
}

/* Replace the profile of the set-up by the profile of a policy with these members of `spec`. */
static inline void use_profile(struct place *place, const char *spec, const char *name,
                               unsigned flags) {
    bs_profile_free(place->profile);
    place->profile = NULL;
    place->profile = profile_of(spec, NULL, name, flags);
}

#define in_a_place(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
