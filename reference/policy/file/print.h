/* Writes policies as text, for the commands print and migrate. */
#ifndef BS_POLICY_FILE_PRINT_H
#define BS_POLICY_FILE_PRINT_H

#include "base/buf.h"
#include "policy/model.h"

/* Write a string in quotes, with escapes that JSON and YAML read as the same characters. */
void bs_policy_put_string(struct bs_buf *out, const char *text, size_t len);

/* Write the whole policy as a file. If memory runs out, out->failed is set. */
void bs_policy_put(struct bs_buf *out, const struct bs_policy *policy,
                   enum bs_policy_format format);

#endif
