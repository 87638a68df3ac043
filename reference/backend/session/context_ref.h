/* A reference-counted copy of a context, with its policy compiled. A session holds a reference. The
 * thread of a backend call that ignored its cancellation holds another one, because it may continue
 * after the session is closed. Any thread may call these functions. */
#ifndef BS_BACKEND_SESSION_CONTEXT_REF_H
#define BS_BACKEND_SESSION_CONTEXT_REF_H

#include <boxspec/backend.h>

struct bs_context_ref;

/* Copy the context and all that it points to, and set `profile` in the copy. The count of *ref is
 * one. Returns 0; BS_E_INVALID if the policy is wrong; BS_E_EXECUTION if memory ran out. After an
 * error *ref is NULL. */
int bs_context_ref_new(const struct bs_backend_context *given, struct bs_context_ref **ref,
                       struct bs_error *err);

struct bs_context_ref *bs_context_ref_acquire(struct bs_context_ref *ref);

/* Drop a reference; the last call frees the copy. NULL is ignored. */
void bs_context_ref_release(struct bs_context_ref *ref);

const struct bs_backend_context *bs_context_ref_get(const struct bs_context_ref *ref);

#endif
