#include "backend/session/context_ref.h"

#include <boxspec/profile.h>

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"

struct bs_context_ref {
    struct bs_backend_context context;
    struct bs_backend_policy policy;
    struct bs_profile *profile;
    struct bs_arena *arena; /* holds all texts, and this struct */
    atomic_uint count;
};

static bool copy_text(struct bs_arena *arena, const char **text) {
    if (*text == NULL)
        return true;
    *text = bs_arena_text(arena, *text, strlen(*text));
    return *text != NULL;
}

static bool copy_texts(struct bs_arena *arena, const char *const **texts, size_t n) {
    const char **copy = NULL;
    bool good = true;
    if (n > 0) {
        copy = bs_arena_zeroed(arena, n, sizeof *copy);
        good = copy != NULL;
    }
    for (size_t i = 0; good && i < n; i++) {
        copy[i] = (*texts)[i];
        good = copy_text(arena, &copy[i]);
    }
    *texts = copy;
    return good;
}

static bool copy_policy(struct bs_context_ref *ref, const struct bs_backend_policy *given) {
    struct bs_backend_policy *policy = &ref->policy;
    struct bs_policy_text *const texts[] = {&policy->global, &policy->workspace};
    *policy = *given;
    ref->context.policy = policy;
    for (size_t i = 0; i < (given->has_workspace ? 2U : 1U); i++) {
        texts[i]->data = bs_arena_text(ref->arena, texts[i]->data, texts[i]->len);
        if (texts[i]->data == NULL)
            return false;
    }
    return copy_text(ref->arena, &policy->profile);
}

static struct bs_context_ref *copy_context(const struct bs_backend_context *given) {
    struct bs_arena *arena = bs_arena_new(BS_ARENA_ROOM);
    struct bs_context_ref *ref = arena != NULL ? bs_arena_zeroed(arena, 1, sizeof *ref) : NULL;
    bool good = ref != NULL;
    if (good) {
        struct bs_backend_context *context = &ref->context;
        *context = *given;
        ref->arena = arena;
        atomic_init(&ref->count, 1);
        good = copy_text(arena, &context->root) && copy_text(arena, &context->cwd) &&
               copy_text(arena, &context->launcher) &&
               copy_texts(arena, &context->egress, context->n_egress) &&
               copy_texts(arena, &context->readable, context->n_readable) &&
               (given->policy == NULL || copy_policy(ref, given->policy));
    }
    if (good)
        return ref;
    bs_arena_free(arena);
    return NULL;
}

static int compile(const struct bs_backend_policy *texts, struct bs_profile **profile,
                   struct bs_error *err) {
    struct bs_policy *policy = NULL;
    struct bs_policy_report report = BS_POLICY_REPORT_INIT;
    int code = bs_policy_load(&texts->global, texts->has_workspace ? &texts->workspace : NULL,
                              &policy, &report, err);
    if (code == BS_OK)
        code = bs_profile_compile(policy, texts->profile, 0, profile, err);
    bs_policy_report_clear(&report);
    bs_policy_free(policy);
    return code;
}

int bs_context_ref_new(const struct bs_backend_context *given, struct bs_context_ref **ref,
                       struct bs_error *err) {
    struct bs_context_ref *made = copy_context(given);
    *ref = NULL;
    if (made == NULL)
        return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for a sandbox");
    int code =
        made->context.policy != NULL ? compile(made->context.policy, &made->profile, err) : BS_OK;
    if (code != BS_OK) {
        bs_context_ref_release(made);
        return code;
    }
    made->context.profile = made->profile;
    *ref = made;
    return BS_OK;
}

struct bs_context_ref *bs_context_ref_acquire(struct bs_context_ref *ref) {
    (void)atomic_fetch_add(&ref->count, 1);
    return ref;
}

void bs_context_ref_release(struct bs_context_ref *ref) {
    if (ref == NULL || atomic_fetch_sub(&ref->count, 1) != 1)
        return;
    bs_profile_free(ref->profile);
    bs_arena_free(ref->arena);
}

const struct bs_backend_context *bs_context_ref_get(const struct bs_context_ref *ref) {
    return &ref->context;
}
