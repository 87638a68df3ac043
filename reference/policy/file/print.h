/* Policies as text, for print and migrate. */
#ifndef BS_POLICY_FILE_PRINT_H
#define BS_POLICY_FILE_PRINT_H

#include "base/buf.h"
#include "policy/model.h"

/* A string that both formats read as the same characters: in quotes, with escapes. */
void bs_policy_put_string(struct bs_buf *out, const char *text, size_t len);

/* The whole file. Failure stays in the buffer. */
void bs_policy_put(struct bs_buf *out, const struct bs_policy *policy,
                   enum bs_policy_format format);

#endif
