/* Reads a file of either format to a tree. */
#ifndef BS_POLICY_FILE_READ_H
#define BS_POLICY_FILE_READ_H

#include <stdbool.h>

#include <boxspec/policy.h>

#include "policy/file/node.h"
#include "policy/file/problems.h"

/* False when memory ran out. A file that is not well-formed leaves its one problem and an empty
 * document. The text is borrowed until the document is cleared. */
bool bs_policy_read(const struct bs_policy_text *text, struct bs_document *document,
                    struct bs_problems *problems);

/* BS_E_INVALID, with the first problem of the report in *err. */
int bs_policy_fail_with_first(const struct bs_policy_report *report, struct bs_error *err);

#endif
