/* Writes the parts of answers that are about backends. */
#ifndef BS_SHIM_BACKEND_ANSWER_H
#define BS_SHIM_BACKEND_ANSWER_H

#include <boxspec/backend.h>

#include "shim/answer.h"

/* Write {"overall": ..., "aspects": ..., "not_enforced": [...]}. */
void bs_put_claims(struct bs_json_writer *out, const struct bs_backend_report *report);

/* Write [{...}, ...], one object for each rule that is not enforced. */
void bs_put_unenforced(struct bs_json_writer *out, const struct bs_backend_report *report);

/* Write ["reason", ...]: one string for each requested aspect that is not enforced fully, and one
 * for each rule that is not enforced. */
void bs_put_reasons(struct bs_json_writer *out, const struct bs_backend_context *context,
                    const struct bs_backend_report *report);

/* Write an array of strings, which need not be UTF-8. */
void bs_put_texts(struct bs_json_writer *out, const char *const *texts, size_t n);

/* Return "fully", "partial" or "none". */
const char *bs_enforcement_name(enum bs_claim claim);

/* Write the members enforcement and, unless `report` is NULL, enforcement_reasons. */
void bs_put_enforcement(struct bs_json_writer *out, enum bs_claim claim,
                        const struct bs_backend_context *context,
                        const struct bs_backend_report *report);

/* Write the bytes of a string in Base64. */
void bs_put_bytes(struct bs_json_writer *out, const char *text);

#endif
