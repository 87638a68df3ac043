/* Text to a tree, by format. */
#ifndef BS_POLICY_FILE_PARSE_H
#define BS_POLICY_FILE_PARSE_H

#include "policy/file/node.h"

/* The text is borrowed until the document is cleared. 0; BS_E_INVALID with the flaw filled;
 * BS_E_EXECUTION when memory ran out. The document is empty in the last two cases. */
int bs_policy_read_json(const char *text, size_t len, struct bs_document *document,
                        struct bs_flaw *flaw);

/* The same of YAML 1.2, core schema. */
int bs_policy_read_yaml(const char *text, size_t len, struct bs_document *document,
                        struct bs_flaw *flaw);

#endif
