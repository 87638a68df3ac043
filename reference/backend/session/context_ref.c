/* A context that lives as long as anybody has it: the session, and a worker that was given up. */
#include <boxspec/backend.h>

#include <stdatomic.h>
#include <string.h>

#include "backend/internal.h"
#include "base/arena.h"

struct bs_kept_context {
    struct bs_backend_context context;
    struct bs_backend_policy policy;
    struct bs_arena *arena; /* everything, this struct as well */
    atomic_uint holders;
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

static bool copy_policy(struct bs_kept_context *kept, const struct bs_backend_policy *given) {
    struct bs_backend_policy *policy = &kept->policy;
    struct bs_policy_text *const texts[] = {&policy->global, &policy->workspace};
    *policy = *given;
    kept->context.policy = policy;
    for (size_t i = 0; i < (given->has_workspace ? 2U : 1U); i++) {
        texts[i]->data = bs_arena_text(kept->arena, texts[i]->data, texts[i]->len);
        if (texts[i]->data == NULL)
            return false;
    }
    return copy_text(kept->arena, &policy->profile);
}

struct bs_kept_context *bs_context_keep(const struct bs_backend_context *given) {
    struct bs_arena *arena = bs_arena_new(BS_ARENA_ROOM);
    struct bs_kept_context *kept = arena != NULL ? bs_arena_zeroed(arena, 1, sizeof *kept) : NULL;
    bool good = kept != NULL;
    if (good) {
        struct bs_backend_context *context = &kept->context;
        *context = *given;
        kept->arena = arena;
        atomic_init(&kept->holders, 1);
        good = copy_text(arena, &context->root) && copy_text(arena, &context->cwd) &&
               copy_text(arena, &context->launcher) &&
               copy_texts(arena, &context->egress, context->n_egress) &&
               copy_texts(arena, &context->readable, context->n_readable) &&
               (given->policy == NULL || copy_policy(kept, given->policy));
    }
    if (good)
        return kept;
    bs_arena_free(arena);
    return NULL;
}

const struct bs_backend_context *bs_kept_context(const struct bs_kept_context *kept) {
    return &kept->context;
}

struct bs_kept_context *bs_context_share(struct bs_kept_context *kept) {
    (void)atomic_fetch_add(&kept->holders, 1);
    return kept;
}

void bs_context_let_go(struct bs_kept_context *kept) {
    if (kept != NULL && atomic_fetch_sub(&kept->holders, 1) == 1)
        bs_arena_free(kept->arena);
}
