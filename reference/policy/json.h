/* JSON to a tree: the recogniser first, then cJSON, then the places of the one joined to the values
 * of the other. */
#ifndef BS_POLICY_JSON_H
#define BS_POLICY_JSON_H

#include "policy/node.h"

/* The text is borrowed until the document is cleared. 0; BS_E_INVALID with the flaw filled;
 * BS_E_EXECUTION when memory ran out. The document is empty in the last two cases. */
int bs_policy_read_json(const char *text, size_t len, struct bs_document *document,
                        struct bs_flaw *flaw);

#endif
