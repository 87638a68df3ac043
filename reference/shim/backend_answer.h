/* How answers about backends are written. */
#ifndef BS_SHIM_BACKEND_ANSWER_H
#define BS_SHIM_BACKEND_ANSWER_H

#include <boxspec/backend.h>

#include "shim/answer.h"

/* {"overall": ..., "aspects": ..., "not_enforced": [...]} */
void bs_put_claims(struct bs_buf *out, const struct bs_backend_report *report);

/* [{...}, ...] */
void bs_put_unenforced(struct bs_buf *out, const struct bs_backend_report *report);

/* ["reason", ...]: of what counts and does not hold fully, and each rule that is not enforced. */
void bs_put_reasons(struct bs_buf *out, const struct bs_backend_context *context,
                    const struct bs_backend_report *report);

void bs_put_texts(struct bs_buf *out, const char *const *texts, size_t n);

/* "fully", "partial" or "none". */
const char *bs_enforcement_name(enum bs_claim claim);

/* Behind a result that was just written: its enforcement, and reasons unless `reasons` is NULL. */
void bs_put_enforcement(struct bs_buf *out, enum bs_claim claim, const struct bs_buf *reasons);

/* Bytes as "..." in Base64. */
void bs_put_bytes(struct bs_buf *out, const char *text);

#endif
