/* Reads a file, in JSON or YAML, into a tree. */
#ifndef BS_POLICY_FILE_READ_H
#define BS_POLICY_FILE_READ_H

#include <stdbool.h>

#include <boxspec/policy.h>

#include "policy/file/node.h"
#include "policy/file/problems.h"

/* Read the text into a document. Returns false if memory ran out. If the file is not well-formed,
 * one problem is reported and the document is empty. The document points into the text until it is
 * cleared. */
bool bs_policy_read(const struct bs_policy_text *text, struct bs_document *document,
                    struct bs_problems *problems);

/* Fill *err with the first problem of the report. Always returns BS_E_INVALID. */
int bs_policy_fail_with_first(const struct bs_policy_report *report, struct bs_error *err);

#endif
