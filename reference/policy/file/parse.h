/* Parses a text into a tree: one function for each format. */
#ifndef BS_POLICY_FILE_PARSE_H
#define BS_POLICY_FILE_PARSE_H

#include "policy/file/node.h"

/* Read a JSON text. The document points into the text until it is cleared. Returns 0; BS_E_INVALID
 * with the flaw filled; BS_E_EXECUTION if memory ran out. In the last two cases the document is
 * empty. */
int bs_policy_read_json(const char *text, size_t len, struct bs_document *document,
                        struct bs_flaw *flaw);

/* As bs_policy_read_json, for YAML 1.2 with the core schema. */
int bs_policy_read_yaml(const char *text, size_t len, struct bs_document *document,
                        struct bs_flaw *flaw);

#endif
